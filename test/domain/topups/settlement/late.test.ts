/** Late payments while there is no rate: each waits for its own rate without delaying others. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { getPayment } from '../../../../src/domain/topups/payment.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { type LedgerEntry, TopupWorld } from '../../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());
afterEach(() => {
  world.rates.set('BTC', '50000');
  world.btc.terse = false;
});

const PAID: LedgerEntry[] = [
  { type: 'topup', cents: 10_000n },
  { type: 'bonus', cents: 3_000n },
];

/**
 * Creates an invoice over 100.00 with an expired rate lock and a payment in a current block, without a
 * rate.
 */
async function latePayment(): Promise<TopupRow> {
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(60 + 181);
  world.rates.delete('BTC');
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  return topup;
}

async function cursor(): Promise<string | undefined> {
  const row = await world.db.row<{ cursor: string }>(`select cursor from coins where code = 'BTC'`);
  return row?.cursor;
}

test('a late payment is confirming at first, and credited at the next available rate', async () => {
  const topup = await latePayment();
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
  assert.equal(await world.balance(topup), 0n);
  const payer = { ...(await world.createCustomer()), customerId: topup.customer_id };
  const { parts } = await getPayment(world.service, payer, formatId('topup', topup.id));
  assert.deepEqual(
    parts.map(({ state, confirmations, late, rate_usd }) => [state, confirmations, late, rate_usd]),
    [['confirming', 1, true, null]],
  );
  world.rates.set('BTC', '40000');
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 8_000n);
  world.rates.set('BTC', '30000');
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), [{ type: 'topup', cents: 8_000n }]);
});

test('a late payment is credited regardless of how long the rate takes and how deep it is', async () => {
  world.btc.terse = true;
  const topup = await latePayment();
  world.btc.mine(60);
  await world.runUntilIdle();
  world.btc.mine(60);
  await world.runUntilIdle();
  assert.equal((await world.deposits(topup))[0]?.state, 'included');
  world.rates.set('BTC', '40000');
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 8_000n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.deposits(topup))[0]?.state, 'final');
});

test('late dust blocks neither the cursor nor payments found only by query', async () => {
  world.btc.terse = true;
  const dusty = await world.createInvoice(100);
  world.clock.advanceMinutes(60 + 181);
  const topup = await world.createInvoice(1_000);
  const key = world.btc.pay(topup.deposit_address, topup.deposit_units);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
  world.btc.hiddenKeys.add(key);
  world.rates.delete('BTC');
  const before = await cursor();
  world.btc.pay(dusty.deposit_address, 1n);
  world.btc.mine();
  assert.ok((await world.watchJob.run()) > 0);
  assert.equal(await world.watchJob.busy(), false, 'no failure');
  assert.equal(await world.balance(topup), 170_000n);
  assert.notEqual(await cursor(), before);
});

test('a credit that moved to a late block stays until that block has its rate', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
  world.clock.advanceMinutes(60 + 181);
  world.rates.delete('BTC');
  world.btc.reorg(1);
  world.btc.mine(2);
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), PAID);
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  world.rates.set('BTC', '40000');
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 8_000n);
});
