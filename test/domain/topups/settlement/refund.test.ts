import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { systemActor } from '../../../../src/domain/record.ts';
import { setSwitch } from '../../../../src/domain/rules/switches.ts';
import { findTopupForOperator } from '../../../../src/domain/topups/operator.ts';
import { getTopup } from '../../../../src/domain/topups/read.ts';
import {
  type RefundOrder,
  refundTopup,
  requireRefundAddress,
} from '../../../../src/domain/topups/settlement/refund.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { OperatorError } from '../../../../src/kernel/operator-error.ts';
import type { CoinCode } from '../../../../src/spec/coins.ts';
import { listWithheldTopups } from '../../../../src/store/topups/operator.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

const TO = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const TXID = '4f5e'.repeat(16);
const APPROVED: RefundOrder = { to: TO, approvedBy: 'Ann' };

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());
afterEach(() => setSwitch(world.service, 'topup-credit', true));

/** Creates an invoice over 100.00, paid while crediting is switched off. */
async function held(coin: 'BTC' | 'ETH' = 'BTC'): Promise<TopupRow> {
  const topup = await world.createInvoice(100, coin);
  await setSwitch(world.service, 'topup-credit', false);
  await payHeld(topup);
  return topup;
}

async function payHeld(topup: TopupRow): Promise<void> {
  const chain = topup.coin === 'BTC' ? world.btc : world.eth;
  chain.pay(topup.deposit_address, topup.deposit_units);
  chain.mine(30);
  await world.runUntilIdle();
}

async function refund(topup: TopupRow, order: RefundOrder) {
  return await refundTopup(world.service, systemActor(world.clock.now()), topup.id, order);
}

async function refused(topup: TopupRow, order: RefundOrder): Promise<string> {
  let message = '';
  await assert.rejects(refund(topup, order), (error) => {
    assert.ok(error instanceof OperatorError);
    message = error.message;
    return true;
  });
  return message;
}

async function recordedRefunds(topup: TopupRow) {
  const { refunds } = await findTopupForOperator(world.service, topup.order_ref);
  return refunds.map(({ address, approved_by, txid, note }) => [address, approved_by, txid, note]);
}

test('a refund is recorded with its address, approver, and transaction', async () => {
  const topup = await held();
  const refunded = await refund(topup, { ...APPROVED, txid: TXID, note: 'asked for by mail' });
  assert.equal(refunded.resolvedUnits, 200_000n);
  assert.deepEqual(await recordedRefunds(topup), [[TO, 'Ann', TXID, 'asked for by mail']]);
  assert.deepEqual(
    (await listWithheldTopups(world.db)).filter(({ id }) => id === topup.id),
    [],
  );
});

test('a refund may be approved first and completed when sent', async () => {
  const topup = await held();
  assert.equal((await refund(topup, APPROVED)).refund.txid, null);
  assert.deepEqual(await recordedRefunds(topup), [[TO, 'Ann', null, null]]);
  const [row] = (await listWithheldTopups(world.db)).filter(({ id }) => id === topup.id);
  assert.deepEqual([row?.withheld_units, row?.unsent_units], ['0', '200000']);
  world.clock.advanceMinutes(60);
  const completed = await refund(topup, { txid: TXID, note: 'by hand' });
  assert.equal(completed.resolvedUnits, 200_000n);
  assert.deepEqual(await recordedRefunds(topup), [[TO, 'Ann', TXID, 'by hand']]);
  const { topup: desk } = await findTopupForOperator(world.service, topup.order_ref);
  assert.deepEqual([desk.refunded_units, desk.unsent_units], ['200000', '0']);
});

test('the record of a refund cannot be changed by a second call', async () => {
  const topup = await held();
  await refund(topup, { ...APPROVED, note: 'one' });
  const other = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7';
  assert.match(await refused(topup, { to: other, txid: TXID }), /to another address/);
  assert.match(await refused(topup, { approvedBy: 'Ben', txid: TXID }), /by someone else/);
  assert.match(await refused(topup, { note: 'two', txid: TXID }), /with another note/);
  assert.match(await refused(topup, {}), /pass --txid/);
  assert.match(await refused(topup, APPROVED), /pass --txid/);
  assert.deepEqual(await recordedRefunds(topup), [[TO, 'Ann', null, 'one']]);
  await refund(topup, { ...APPROVED, txid: TXID });
  await assert.rejects(refund(topup, { txid: 'ab'.repeat(32) }), { code: 'not_found' });
  await assert.rejects(refund(topup, { ...APPROVED, txid: 'ab'.repeat(32) }), { code: 'not_found' });
  assert.deepEqual(await recordedRefunds(topup), [[TO, 'Ann', TXID, 'one']]);
});

test('an incomplete or invalid refund records nothing', async () => {
  const topup = await held();
  assert.match(await refused(topup, { approvedBy: 'Ann' }), /^--to is required/);
  assert.match(await refused(topup, { to: TO }), /^--approved-by is required/);
  assert.match(await refused(topup, { ...APPROVED, approvedBy: 'a\nb' }), /^--approved-by must be a name/);
  assert.match(await refused(topup, { ...APPROVED, txid: 'x y' }), /^--txid is not a transaction id/);
  assert.match(
    await refused(topup, { ...APPROVED, txid: 'a'.repeat(129) }),
    /^--txid is not a transaction id/,
  );
  assert.match(await refused(topup, { ...APPROVED, note: 'x'.repeat(501) }), /the note must be one line/);
  const wrong = await refused(topup, { ...APPROVED, to: '0x00000000219ab540356cBB839Cbe05303d7705Fa' });
  assert.equal(wrong, '--to is not a valid BTC address on Bitcoin');
  assert.equal(await refused(topup, { ...APPROVED, to: `1${'A'.repeat(5_000)}` }), wrong);
  assert.deepEqual(await recordedRefunds(topup), []);
  assert.equal((await world.reloadTopup(topup)).credit_held, true);
  assert.deepEqual(await world.auditActions(topup), ['topup.create']);
});

test('a refund to one of our deposit addresses is rejected in any spelling', async () => {
  const topup = await held('ETH');
  const ours = '0x00000000219ab540356cBB839Cbe05303d7705Fa';
  const other = await world.createInvoice(100, 'ETH');
  await world.db.run('update topups set deposit_address = $2 where id = $1', [other.id, ours]);
  for (const to of [ours, ours.toLowerCase()]) {
    assert.match(await refused(topup, { ...APPROVED, to }), /--to is a deposit address of this service/);
  }
  await refund(topup, { ...APPROVED, to: '0x11111111219ab540356cBB839Cbe05303d7705Fa', txid: TXID });
});

for (const [coin, ours, others] of [
  ['BTC', ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', TO.toUpperCase()], ['LTC']],
  ['LTC', ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'LQTpS3VaYTjCr4s9Y1t5zbeY26zevf7Fb3'], ['BTC']],
  ['XMR', [`4${'A'.repeat(94)}`, `4${'A'.repeat(105)}`], ['BTC']],
  ['USDTTRC', ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'], ['USDT', 'BTC']],
  ['SOL', ['7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'], ['ETH', 'TRX']],
] as const) {
  test(`addresses of ${coin} are distinguished from those of other networks`, async () => {
    const asked = (code: CoinCode, to: string) => requireRefundAddress(world.db, code, to);
    for (const to of ours) {
      assert.equal(await asked(coin, to), to);
      for (const other of others)
        await assert.rejects(asked(other, to), /^OperatorError: --to is not a valid /);
      for (const broken of [`${to}0OIl`, to.slice(0, 9), ''])
        await assert.rejects(asked(coin, broken), OperatorError);
    }
  });
}

test('the audit log has both steps without the address, and the customer sees no change', async () => {
  const topup = await held();
  await refund(topup, APPROVED);
  await refund(topup, { txid: TXID });
  const audit = await world.auditActions(topup);
  assert.deepEqual(audit.slice(-2), ['topup.refund', 'topup.refund']);
  const rows = await world.db.rows('select * from audit_events where customer_id = $1', [topup.customer_id]);
  assert.ok(!JSON.stringify(rows).includes(TO));
  const actor = { ...(await world.createCustomer()), customerId: topup.customer_id };
  const shown = await getTopup(world.service, actor, formatId('topup', topup.id));
  assert.deepEqual([shown.status, shown.credited_usd, shown.credit_held], ['expired', 0, false]);
  assert.ok(!JSON.stringify(shown).includes(TO));
});

test('a payment withheld after a refund is resolved separately', async () => {
  const topup = await held();
  await refund(topup, { ...APPROVED, txid: TXID });
  await payHeld(topup);
  const second = { ...APPROVED, approvedBy: 'Ben', txid: 'cd'.repeat(32) };
  assert.equal((await refund(topup, second)).resolvedUnits, 200_000n);
  assert.deepEqual((await recordedRefunds(topup)).sort(), [
    [TO, 'Ann', TXID, null],
    [TO, 'Ben', 'cd'.repeat(32), null],
  ]);
});

test('a payment to a deleted account can be refunded', async () => {
  const topup = await world.createInvoice(100);
  await world.db.run('update customers set deleting_at = $2 where id = $1', [
    topup.customer_id,
    world.clock.now(),
  ]);
  await payHeld(topup);
  assert.equal((await refund(topup, { ...APPROVED, txid: TXID })).refund.txid, TXID);
  assert.deepEqual(await world.ledgerEntries(topup), []);
});

test('a payment that the second node lacks cannot be refunded', async () => {
  const topup = await held();
  const [deposit] = await world.deposits(topup);
  world.btc.disputedKeys.add(deposit?.key ?? '');
  world.btc.mine();
  await world.runUntilIdle();
  assert.match(
    await refused(topup, { ...APPROVED, txid: TXID }),
    /the second node does not have the withheld payment/,
  );
  assert.deepEqual(await recordedRefunds(topup), []);
  world.btc.disputedKeys.clear();
  world.btc.mine();
  await world.runUntilIdle();
  await refund(topup, { ...APPROVED, txid: TXID });
});

test('concurrent completions of a refund happen once', async () => {
  const topup = await held();
  await refund(topup, APPROVED);
  const ids = ['ab'.repeat(32), 'cd'.repeat(32)];
  const outcomes = await Promise.allSettled(ids.map((txid) => refund(topup, { txid })));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  const first = outcomes[0]?.status === 'fulfilled' ? ids[0] : ids[1];
  assert.deepEqual(await recordedRefunds(topup), [[TO, 'Ann', first, null]]);
});
