import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HOUSE } from '../../../../src/domain/ledger/transfer.ts';
import { cancelTopup } from '../../../../src/domain/topups/end.ts';
import { getPayment } from '../../../../src/domain/topups/payment.ts';
import { topupView } from '../../../../src/domain/topups/read.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { type LedgerEntry, TopupWorld } from '../../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());

const PAID: LedgerEntry[] = [
  { type: 'topup', cents: 10_000n },
  { type: 'bonus', cents: 3_000n },
];
const TAKEN_BACK: LedgerEntry[] = [
  { type: 'reversal', cents: -10_000n },
  { type: 'reversal', cents: -3_000n },
];

/** Creates an invoice over 100.00, paid and credited with one confirmation. */
async function credited(): Promise<{ topup: TopupRow; key: string }> {
  const topup = await world.createInvoice(100);
  const key = world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  return { topup, key };
}

async function eventTypes(topup: TopupRow): Promise<string[]> {
  return (await world.topupEvents(topup)).map((event) => event.type);
}

test('a payment that returns to the mempool is reversed with its bonus, then credited again', async () => {
  const { topup } = await credited();
  world.btc.reorg(1);
  await world.runUntilIdle();
  const waiting = await world.reloadTopup(topup);
  assert.equal(waiting.status, 'confirming');
  assert.deepEqual([waiting.credited_cents, waiting.reversed_cents], [0n, 13_000n]);
  assert.equal(await world.balance(topup), 0n);
  assert.deepEqual(await world.ledgerEntries(topup), [...PAID, ...TAKEN_BACK]);
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), [...PAID, ...TAKEN_BACK, ...PAID]);
  assert.equal(await world.balance(topup), 13_000n);
  const [deposit] = await world.deposits(topup);
  assert.equal(deposit?.credits, 2);
  assert.deepEqual(await eventTypes(topup), [
    'topup.pending',
    'topup.confirmed',
    'topup.reversed',
    'topup.pending',
    'topup.confirmed',
  ]);
  const { reversed_cents: cents, reversed_at: at } = await world.reloadTopup(topup);
  assert.deepEqual([cents, at], [0n, null]);
  assert.deepEqual(await world.auditActions(topup), [
    'topup.create',
    'topup.credit',
    'topup.reverse',
    'topup.credit',
  ]);
});

test('a credited payment dropped by a reorg is awaited', async () => {
  const { topup } = await credited();
  world.btc.reorg(1, { drop: true });
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
  assert.equal(await world.balance(topup), 0n);
});

test('a credited payment that is double-spent leaves the invoice as if it had never arrived', async () => {
  const { topup, key } = await credited();
  world.btc.reorg(1);
  world.btc.replace(key);
  await world.runUntilIdle();
  const now = await world.reloadTopup(topup);
  assert.equal(now.status, 'pending');
  assert.equal(topupView(now).status, 'waiting');
  assert.equal(now.confirmations, 0);
  assert.equal(await world.balance(topup), 0n);
});

test('a payment that vanishes after the expiry leaves the invoice expired', async () => {
  const { topup, key } = await credited();
  world.clock.advanceMinutes(61);
  world.btc.reorg(1);
  world.btc.replace(key);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'expired');
  assert.deepEqual(await eventTypes(topup), [
    'topup.pending',
    'topup.confirmed',
    'topup.reversed',
    'topup.pending',
    'topup.expired',
  ]);
  const reversed = (await world.topupEvents(topup)).find(({ type }) => type === 'topup.reversed');
  assert.deepEqual([reversed?.topup.reversed_usd, reversed?.topup.status], [130, 'expired']);
  const { taken_back: note } = await getPayment(
    world.service,
    { ...(await world.createCustomer()), customerId: topup.customer_id },
    formatId('topup', topup.id),
  );
  assert.deepEqual([note?.usd, note?.fate], [130, 'spent']);
});

test('a vanished payment of a canceled invoice leaves it canceled, without an event', async () => {
  const topup = await world.createInvoice(100);
  const actor = { ...(await world.createCustomer()), customerId: topup.customer_id };
  await cancelTopup(world.service, actor, topup.order_ref);
  const key = world.btc.pay(topup.deposit_address, 200_000n);
  await world.runUntilIdle();
  world.btc.replace(key);
  await world.runUntilIdle();
  assert.equal(topupView(await world.reloadTopup(topup)).status, 'cancelled');
  assert.deepEqual(await eventTypes(topup), ['topup.pending']);
});

test('reversing money already spent makes the balance negative', async () => {
  const { topup } = await credited();
  await world.db.run('update balances set balance_cents = 500 where customer_id = $1', [topup.customer_id]);
  world.btc.reorg(1);
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 500n - 13_000n);
});

test('a double-spend in the mempool makes the invoice pending again', async () => {
  const topup = await world.createInvoice(100);
  const key = world.btc.pay(topup.deposit_address, 200_000n);
  await world.runUntilIdle();
  world.btc.replace(key);
  const other = world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
  const [event] = (await world.topupEvents(topup)).slice(-1);
  assert.deepEqual(event?.topup.txids, [other.split(':')[0]]);
});

test('a payment that the node silently forgot is queried and removed', async () => {
  const topup = await world.createInvoice(100);
  const key = world.btc.pay(topup.deposit_address, 200_000n);
  await world.runUntilIdle();
  world.btc.forget(key);
  world.btc.hiddenKeys.add(key);
  await world.runUntilIdle();
  assert.deepEqual(world.btc.rechecks.at(-1), [key]);
  assert.equal((await world.reloadTopup(topup)).status, 'pending');
});

test('a reorg that the poll does not report is found by querying unfinished payments', async () => {
  const { topup, key } = await credited();
  world.btc.hiddenKeys.add(key);
  world.btc.reorg(1);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
  assert.equal(await world.balance(topup), 0n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
});

test('a payment in another block with enough confirmations stays credited', async () => {
  const { topup } = await credited();
  world.btc.reorg(1);
  world.btc.mine(2);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
});

test('a payment in another block with too few confirmations is reversed', async () => {
  const topup = await world.createInvoice(1_000);
  world.btc.pay(topup.deposit_address, 2_000_000n);
  world.btc.mine(2);
  await world.runUntilIdle();
  world.btc.reorg(2);
  world.btc.mine(1);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
  assert.equal(await world.balance(topup), 0n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 170_000n);
});

test('fewer confirmations in the same block reverse nothing', async () => {
  const topup = await world.createInvoice(1_000);
  world.btc.pay(topup.deposit_address, 2_000_000n);
  world.btc.mine(3);
  await world.runUntilIdle();
  world.btc.reorg(2);
  await world.runUntilIdle();
  const now = await world.reloadTopup(topup);
  assert.equal(now.status, 'credited');
  assert.equal(now.confirmations, 1);
  assert.equal((await world.ledgerEntries(topup)).length, 2);
});

test('a payment that moved past the rate lock is credited again at the new rate', async () => {
  const { topup } = await credited();
  world.clock.advanceMinutes(60 + 181);
  world.rates.set('BTC', '40000');
  world.btc.reorg(1);
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), [
    ...PAID,
    ...TAKEN_BACK,
    { type: 'topup', cents: 8_000n },
  ]);
  const events = await world.topupEvents(topup);
  assert.deepEqual(
    events.map(({ type, topup: at }) => [type, at.status, at.credited_usd, at.bonus_usd, at.reversed_usd]),
    [
      ['topup.pending', 'confirming', 0, 30, 0],
      ['topup.confirmed', 'credited', 100, 30, 0],
      ['topup.reversed', 'credited', 80, 0, 50],
      ['topup.pending', 'confirming', 80, 0, 50],
      ['topup.confirmed', 'credited', 80, 0, 50],
    ],
  );
  world.rates.set('BTC', '50000');
});

test('the rest of a split payment is credited again with its own tolerance and tier', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 199_200n);
  world.btc.mine();
  await world.runUntilIdle();
  world.clock.advanceMinutes(1);
  world.btc.pay(topup.deposit_address, 400_000n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(
    (await world.ledgerEntries(topup)).map((entry) => entry.cents),
    [10_000n, 3_000n, 19_960n, 7_000n],
  );
  world.btc.reorg(1, { drop: true });
  await world.runUntilIdle();
  const now = await world.reloadTopup(topup);
  assert.equal(now.credited_cents, 10_000n);
  assert.equal(now.bonus_paid_cents, 3_000n);
  assert.equal(await world.balance(topup), 13_000n);
  assert.deepEqual((await world.ledgerEntries(topup)).map((entry) => entry.cents).slice(4), [
    -10_000n,
    -19_960n,
    -3_000n,
    -7_000n,
    10_000n,
    3_000n,
  ]);
});

test('dust that vanishes reverses nothing', async () => {
  const { topup } = await credited();
  const key = world.btc.pay(topup.deposit_address, 19n);
  world.btc.mine();
  await world.runUntilIdle();
  world.btc.reorg(1, { drop: true });
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
  const dust = (await world.deposits(topup)).find((deposit) => deposit.key === key);
  assert.equal(dust?.state, 'removed');
  assert.equal(dust?.credited_cents, null);
});

test('the house accounts match the customers’ balances and bonuses', async () => {
  const { topup } = await credited();
  const rows = await world.db.rows<{ account: string; cents: bigint }>(
    `select account, sum(cents)::bigint as cents from (
       select debit_account as account, -amount_cents as cents from transfers where resource_id = $1
       union all
       select credit_account, amount_cents from transfers where resource_id = $1) as postings
      group by account`,
    [topup.id],
  );
  const of = (account: string) => rows.find((row) => row.account === account)?.cents;
  assert.equal(of(HOUSE.deposits), -10_000n);
  assert.equal(of(HOUSE.bonuses), -3_000n);
  assert.equal(of(topup.customer_id), 13_000n);
});
