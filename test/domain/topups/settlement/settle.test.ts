import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cancelTopup } from '../../../../src/domain/topups/end.ts';
import { topupView } from '../../../../src/domain/topups/read.ts';
import { applyObservations } from '../../../../src/domain/topups/settlement/observations.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { expireTopupsJob } from '../../../../src/workers/expire-topups.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

/** At 50,000 dollars per coin. */
const UNITS_PER_CENT = 20n;

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());

function cents(amount: number): bigint {
  return BigInt(amount) * UNITS_PER_CENT;
}

/** Pays coin units and mines blocks. */
async function pay(topup: TopupRow, units: bigint, blocks = 3): Promise<string> {
  const key = world.btc.pay(topup.deposit_address, units);
  if (blocks > 0) world.btc.mine(blocks);
  await world.runUntilIdle();
  return key;
}

async function eventTypes(topup: TopupRow): Promise<string[]> {
  return (await world.topupEvents(topup)).map((event) => event.type);
}

test('an exact payment is seen, then credited with its bonus', async () => {
  const topup = await world.createInvoice(100);
  const key = await pay(topup, 200_000n, 0);
  const seen = await world.reloadTopup(topup);
  assert.equal(seen.status, 'confirming');
  assert.equal(topupView(seen).status, 'confirming');
  assert.equal(await world.balance(topup), 0n);
  world.btc.mine();
  await world.runUntilIdle();
  const credited = await world.reloadTopup(topup);
  assert.equal(credited.status, 'credited');
  assert.equal(topupView(credited).status, 'confirmed');
  assert.equal(credited.confirmations, 1);
  assert.deepEqual(await world.ledgerEntries(topup), [
    { type: 'topup', cents: 10_000n },
    { type: 'bonus', cents: 3_000n },
  ]);
  assert.equal(await world.balance(topup), 13_000n);
  const events = await world.topupEvents(topup);
  assert.deepEqual(
    events.map(({ type, topup: at }) => [type, at.status, at.credited_usd, at.bonus_usd, at.txids]),
    [
      ['topup.pending', 'confirming', 0, 30, [key.split(':')[0]]],
      ['topup.confirmed', 'credited', 100, 30, [key.split(':')[0]]],
    ],
  );
  assert.deepEqual(await world.auditActions(topup), ['topup.create', 'topup.credit']);
});

test('a payment first seen deep in the chain is credited at once', async () => {
  const topup = await world.createInvoice(50);
  await pay(topup, 100_000n);
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  assert.deepEqual(await eventTypes(topup), ['topup.pending', 'topup.confirmed']);
  assert.deepEqual(await world.ledgerEntries(topup), [{ type: 'topup', cents: 5_000n }]);
});

test('an underpayment is credited for the amount received', async () => {
  const topup = await world.createInvoice(100);
  await pay(topup, cents(9_949));
  assert.deepEqual(await world.ledgerEntries(topup), [{ type: 'topup', cents: 9_949n }]);
  assert.equal((await world.reloadTopup(topup)).bonus_paid_cents, 0n);
});

test('an underpayment within half a percent counts as the full amount', async () => {
  const topup = await world.createInvoice(100);
  await pay(topup, cents(9_950));
  assert.equal(await world.balance(topup), 13_000n);
  const other = await world.createInvoice(100);
  await pay(other, cents(9_950) - 1n);
  assert.equal(await world.balance(other), 9_949n);
});

test('an overpayment is credited in full, with the bonus of its worth', async () => {
  const topup = await world.createInvoice(100);
  await pay(topup, cents(25_001));
  assert.deepEqual(await world.ledgerEntries(topup), [
    { type: 'topup', cents: 25_001n },
    { type: 'bonus', cents: 10_000n },
  ]);
  const event = (await world.topupEvents(topup)).at(-1);
  assert.equal(event?.topup.bonus_usd, 100);
  assert.equal(event?.topup.credited_usd, 250.01);
});

test('a split payment is credited part by part, and reaching a tier pays the difference', async () => {
  const topup = await world.createInvoice(500);
  await pay(topup, cents(10_000));
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  await pay(topup, cents(20_000), 0);
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
  world.btc.mine(3);
  await world.runUntilIdle();
  await pay(topup, cents(19_800));
  assert.deepEqual(await world.ledgerEntries(topup), [
    { type: 'topup', cents: 10_000n },
    { type: 'bonus', cents: 3_000n },
    { type: 'topup', cents: 20_000n },
    { type: 'bonus', cents: 7_000n },
    // 498 of 500 dollars is within half a percent.
    { type: 'topup', cents: 20_000n },
    { type: 'bonus', cents: 20_000n },
  ]);
  const confirmed = (await world.topupEvents(topup)).filter((event) => event.type === 'topup.confirmed');
  assert.deepEqual(
    confirmed.map((event) => event.topup.credited_usd),
    [100, 300, 500],
  );
});

test('two parts that confirm together are two credits', async () => {
  const topup = await world.createInvoice(100);
  await pay(topup, cents(6_000), 0);
  world.clock.advanceMinutes(1);
  await pay(topup, cents(4_000));
  assert.deepEqual((await world.ledgerEntries(topup)).map((entry) => entry.cents).slice(0, 3), [
    6_000n,
    4_000n,
    3_000n,
  ]);
  assert.equal((await world.reloadTopup(topup)).credited_cents, 10_000n);
});

test('dust books nothing and changes no status until it adds up to a cent', async () => {
  const topup = await world.createInvoice(30);
  await pay(topup, 19n);
  assert.equal((await world.reloadTopup(topup)).status, 'pending');
  assert.deepEqual(await world.ledgerEntries(topup), []);
  assert.deepEqual(await world.topupEvents(topup), []);
  await pay(topup, 19n);
  assert.deepEqual(await world.ledgerEntries(topup), [{ type: 'topup', cents: 1n }]);
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
});

test('dust on a credited invoice leaves it credited', async () => {
  const topup = await world.createInvoice(30);
  await pay(topup, cents(3_000));
  await pay(topup, 19n, 0);
  const now = await world.reloadTopup(topup);
  assert.equal(now.status, 'credited');
  assert.ok(now.confirmations > 0);
  assert.deepEqual(await eventTypes(topup), ['topup.pending', 'topup.confirmed']);
});

test('a larger total needs more confirmations, even above the invoiced amount', async () => {
  const topup = await world.createInvoice(1_000);
  await pay(topup, cents(100_000), 1);
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  const small = await world.createInvoice(30);
  await pay(small, cents(500_000), 2);
  const waiting = await world.reloadTopup(small);
  assert.equal(waiting.status, 'confirming');
  assert.equal(waiting.required_confirmations, 3);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(small)).status, 'credited');
});

test('a credit stays when a larger payment raises the required confirmations', async () => {
  const topup = await world.createInvoice(100);
  await pay(topup, cents(10_000), 1);
  await pay(topup, cents(900_000), 0);
  assert.equal((await world.reloadTopup(topup)).credited_cents, 10_000n);
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), [
    { type: 'topup', cents: 10_000n },
    { type: 'bonus', cents: 3_000n },
  ]);
});

test('the locked rate applies to blocks up to three hours after the expiry', async () => {
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(60 + 180);
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  world.rates.set('BTC', '40000');
  world.clock.advanceMinutes(600);
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
  world.rates.set('BTC', '50000');
});

test('a later block has the rate of the time it was found, permanently', async () => {
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(60 + 181);
  world.rates.set('BTC', '40000');
  world.btc.pay(topup.deposit_address, 200_000n);
  world.btc.mine();
  world.rates.set('BTC', '40000');
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 8_000n);
  world.rates.set('BTC', '30000');
  world.btc.mine();
  await world.runUntilIdle();
  const [deposit] = await world.deposits(topup);
  assert.equal(deposit?.rate_at_inclusion, '40000');
  world.rates.set('BTC', '50000');
});

test('a late payment without a rate waits for one and does not delay others', async () => {
  const late = await world.createInvoice(100);
  world.clock.advanceMinutes(60 + 181);
  const timely = await world.createInvoice(50, 'BTC');
  world.rates.delete('BTC');
  world.btc.pay(late.deposit_address, 200_000n);
  world.btc.pay(timely.deposit_address, 100_000n);
  world.btc.mine();
  await world.watchJob.run();
  assert.equal((await world.reloadTopup(timely)).status, 'credited');
  assert.deepEqual(await world.ledgerEntries(late), []);
  world.rates.set('BTC', '50000');
  await world.runUntilIdle();
  assert.equal(await world.balance(late), 13_000n);
});

test('a payment to a canceled invoice is credited', async () => {
  const topup = await world.createInvoice(100);
  await cancelTopup(
    world.service,
    { ...(await world.createCustomer()), customerId: topup.customer_id },
    topup.order_ref,
  );
  await pay(topup, 200_000n, 0);
  assert.equal(topupView(await world.reloadTopup(topup)).status, 'confirming');
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
  assert.deepEqual(await eventTypes(topup), ['topup.pending', 'topup.confirmed']);
});

test('a payment to an expired invoice is credited', async () => {
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(60);
  await expireTopupsJob(world.service).run();
  assert.equal((await world.reloadTopup(topup)).status, 'expired');
  await pay(topup, 200_000n);
  assert.equal(await world.balance(topup), 13_000n);
  assert.deepEqual(await eventTypes(topup), ['topup.expired', 'topup.pending', 'topup.confirmed']);
});

test('an expired invoice stays expired if the clock of another process is behind', async () => {
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(60);
  await expireTopupsJob(world.service).run();
  world.clock.advanceMinutes(-1);
  await pay(topup, 19n);
  assert.equal((await world.reloadTopup(topup)).status, 'expired');
  world.clock.advanceMinutes(1);
});

test('a repeated notice changes nothing', async () => {
  const topup = await world.createInvoice(100);
  world.btc.duplicatesObservations = true;
  await pay(topup, 200_000n);
  const rows = () => Promise.all([world.reloadTopup(topup), world.deposits(topup), world.topupEvents(topup)]);
  const before = await rows();
  const versions = await world.db.rows('select xmin::text, ctid::text from deposits');
  for (let i = 0; i < 3; i++) assert.equal(await world.watchJob.run(), 0);
  assert.deepEqual(await rows(), before);
  assert.deepEqual(await world.db.rows('select xmin::text, ctid::text from deposits'), versions);
  world.btc.duplicatesObservations = false;
  assert.deepEqual((await world.ledgerEntries(topup)).length, 2);
});

test('two coins with the same key are two payments', async () => {
  const btc = await world.createInvoice(100);
  const eth = await world.createInvoice(100, 'ETH');
  const key = await pay(btc, 200_000n);
  const seen = { ...world.btc.observe(key), address: eth.deposit_address, amountUnits: eth.deposit_units };
  await applyObservations(world.service, 'ETH', [{ ...seen, state: 'final', confirmations: 40 }]);
  assert.equal(await world.balance(eth), 13_000n);
  assert.equal(await world.balance(btc), 13_000n);
});

test('a payment to an unknown address is ignored', async () => {
  const payments = async () => await world.db.rows('select coin, key from deposits order by coin, key');
  await world.runUntilIdle();
  const before = await payments();
  await pay({ ...(await world.createInvoice(100)), deposit_address: 'unknown address' }, 200_000n);
  assert.deepEqual(await payments(), before);
});
