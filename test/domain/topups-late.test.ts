/** Late payments while there is no rate: each waits for its own, and nobody else does. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { getPayment } from '../../src/domain/topups/payment.ts';
import { showId } from '../../src/kernel/ids.ts';
import type { TopupRow } from '../../src/store/topups.ts';
import { type Entry, TopupWorld } from '../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());
afterEach(() => {
  world.rates.set('BTC', '50000');
  world.btc.terse = false;
});

const PAID: Entry[] = [
  { type: 'topup', cents: 10_000n },
  { type: 'bonus', cents: 3_000n },
];

/** An invoice over 100.00 whose locked rate has ended, and its payment, in a block of now; there is no rate. */
async function latePayment(): Promise<TopupRow> {
  const topup = await world.invoice(100);
  world.clock.advanceMinutes(60 + 181);
  world.rates.delete('BTC');
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.settle();
  return topup;
}

async function cursor(): Promise<string | undefined> {
  const row = await world.db.row<{ cursor: string }>(`select cursor from coins where code = 'BTC'`);
  return row?.cursor;
}

test('it is seen and confirming, and credited at the first rate that there is', async () => {
  const topup = await latePayment();
  assert.equal((await world.topup(topup)).status, 'confirming');
  assert.equal(await world.balance(topup), 0n);
  const payer = { ...(await world.customer()), customerId: topup.customer_id };
  const { parts } = await getPayment(world.service, payer, showId('topup', topup.id));
  assert.deepEqual(
    parts.map(({ state, confirmations, late, rate_usd }) => [state, confirmations, late, rate_usd]),
    [['confirming', 1, true, null]],
  );
  world.rates.set('BTC', '40000');
  await world.settle();
  assert.equal(await world.balance(topup), 8_000n);
  world.rates.set('BTC', '30000');
  world.btc.mine();
  await world.settle();
  assert.deepEqual(await world.entries(topup), [{ type: 'topup', cents: 8_000n }]);
});

test('however long that takes, and however deep it is by then', async () => {
  world.btc.terse = true;
  const topup = await latePayment();
  world.btc.mine(60);
  await world.settle();
  world.btc.mine(60);
  await world.settle();
  assert.equal((await world.deposits(topup))[0]?.state, 'included');
  world.rates.set('BTC', '40000');
  await world.settle();
  assert.equal(await world.balance(topup), 8_000n);
  world.btc.mine();
  await world.settle();
  assert.equal((await world.deposits(topup))[0]?.state, 'final');
});

test('dust that came late keeps back neither the cursor nor what is only asked for', async () => {
  world.btc.terse = true;
  const dusty = await world.invoice(100);
  world.clock.advanceMinutes(60 + 181);
  const topup = await world.invoice(1_000);
  const key = world.btc.pay(topup.deposit_address, topup.deposit_units);
  world.btc.mine();
  await world.settle();
  assert.equal((await world.topup(topup)).status, 'confirming');
  world.btc.hushed.add(key);
  world.rates.delete('BTC');
  const before = await cursor();
  world.btc.pay(dusty.deposit_address, 1n);
  world.btc.mine();
  assert.ok((await world.watch.run()) > 0);
  assert.equal(await world.watch.busy(), false, 'nothing failed');
  assert.equal(await world.balance(topup), 170_000n);
  assert.notEqual(await cursor(), before);
});

test('a credit that moved to a late block stays as it is until that has its rate', async () => {
  const topup = await world.invoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  await world.settle();
  assert.deepEqual(await world.entries(topup), PAID);
  world.clock.advanceMinutes(60 + 181);
  world.rates.delete('BTC');
  world.btc.reorg(1);
  world.btc.mine(2);
  await world.settle();
  assert.deepEqual(await world.entries(topup), PAID);
  assert.equal((await world.topup(topup)).status, 'credited');
  world.rates.set('BTC', '40000');
  await world.settle();
  assert.equal(await world.balance(topup), 8_000n);
});
