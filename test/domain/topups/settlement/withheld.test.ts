import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { systemActor } from '../../../../src/domain/record.ts';
import { setSwitch } from '../../../../src/domain/rules/switches.ts';
import { topupView } from '../../../../src/domain/topups/read.ts';
import { refundTopup } from '../../../../src/domain/topups/settlement/refund.ts';
import { releaseTopup } from '../../../../src/domain/topups/settlement/withheld.ts';
import { listWithheldTopups } from '../../../../src/store/topups/operator.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());
afterEach(() => setSwitch(world.service, 'topup-credit', true));

const CREDITED = [
  { type: 'topup', cents: 10_000n },
  { type: 'bonus', cents: 3_000n },
];

const REFUND = { to: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', approvedBy: 'Ann' };

async function pay(topup: TopupRow, units = 200_000n): Promise<string> {
  const key = world.btc.pay(topup.deposit_address, units);
  world.btc.mine(3);
  await world.runUntilIdle();
  return key;
}

/** Creates an invoice over 100.00, paid while crediting is switched off. */
async function held(): Promise<TopupRow> {
  const topup = await world.createInvoice(100);
  await setSwitch(world.service, 'topup-credit', false);
  await pay(topup);
  return topup;
}

function operator() {
  return systemActor(world.clock.now());
}

test('with crediting switched off, a payment is confirmed and nothing is credited', async () => {
  const topup = await held();
  const now = await world.reloadTopup(topup);
  assert.equal(now.status, 'confirming');
  assert.equal(now.credit_held, true);
  assert.equal(topupView(now).status, 'confirmed');
  assert.equal(await world.balance(topup), 0n);
  const events = await world.topupEvents(topup);
  assert.deepEqual(
    events.map(({ type, topup: at }) => [type, at.status, at.credit_held, at.credited_usd]),
    [['topup.pending', 'confirming', true, 0]],
  );
});

test('a withheld payment stays withheld when crediting resumes, and later ones are credited', async () => {
  const topup = await held();
  await setSwitch(world.service, 'topup-credit', true);
  world.btc.mine();
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).credit_held, true);
  await pay(topup, 80_000n);
  assert.deepEqual(await world.ledgerEntries(topup), [{ type: 'topup', cents: 4_000n }]);
  const other = await world.createInvoice(100);
  await pay(other);
  assert.deepEqual(await world.ledgerEntries(other), CREDITED);
});

test('a release credits withheld payments even while the switch is off', async () => {
  const topup = await held();
  const released = await releaseTopup(world.service, operator(), topup.id);
  assert.equal(released.status, 'credited');
  assert.equal(released.credit_held, false);
  assert.deepEqual(await world.ledgerEntries(topup), CREDITED);
  assert.deepEqual(await world.auditActions(topup), ['topup.create', 'topup.credit']);
  assert.equal((await world.topupEvents(topup)).at(-1)?.type, 'topup.confirmed');
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), CREDITED);
});

test('a refunded payment is never credited, regardless of the chain', async () => {
  const topup = await held();
  const refunded = await refundTopup(world.service, operator(), topup.id, REFUND);
  assert.equal(refunded.credit_held, false);
  assert.equal(refunded.status, 'expired', 'the invoice does not become payable again');
  assert.deepEqual(await world.auditActions(topup), ['topup.create', 'topup.expire', 'topup.refund']);
  await setSwitch(world.service, 'topup-credit', true);
  world.btc.reorg(3);
  await world.runUntilIdle();
  world.btc.mine(3);
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), []);
  assert.equal((await world.reloadTopup(topup)).status, 'expired');
});

test('a payment that left the chain is neither listed as withheld nor refunded', async () => {
  const topup = await held();
  world.btc.reorg(3, { drop: true });
  await world.runUntilIdle();
  await assert.rejects(refundTopup(world.service, operator(), topup.id, REFUND), { code: 'not_found' });
  assert.deepEqual(
    (await listWithheldTopups(world.db)).filter((row) => row.id === topup.id),
    [],
  );
});

test('a top-up without withheld payments can be neither released nor refunded', async () => {
  const topup = await world.createInvoice(100);
  await assert.rejects(releaseTopup(world.service, operator(), topup.id), { code: 'not_found' });
  await assert.rejects(refundTopup(world.service, operator(), topup.customer_id, REFUND), {
    code: 'not_found',
  });
  const once = await held();
  await releaseTopup(world.service, operator(), once.id);
  await assert.rejects(refundTopup(world.service, operator(), once.id, REFUND), { code: 'not_found' });
  await assert.rejects(releaseTopup(world.service, operator(), once.id), { code: 'not_found' });
});

test('of a concurrent release and refund, exactly one happens', async () => {
  const topup = await held();
  const outcomes = await Promise.allSettled([
    releaseTopup(world.service, operator(), topup.id),
    refundTopup(world.service, operator(), topup.id, REFUND),
  ]);
  assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1);
  const booked = await world.balance(topup);
  assert.equal(booked, outcomes[0]?.status === 'fulfilled' ? 13_000n : 0n);
});

test('a withheld payment that leaves its block is not withheld until it returns', async () => {
  const topup = await held();
  world.btc.reorg(3);
  await world.runUntilIdle();
  const waiting = await world.reloadTopup(topup);
  assert.equal(waiting.credit_held, false);
  assert.equal(topupView(waiting).status, 'confirming');
  await setSwitch(world.service, 'topup-credit', true);
  world.btc.mine(3);
  await world.runUntilIdle();
  assert.equal((await world.reloadTopup(topup)).credit_held, true);
  assert.deepEqual(await world.ledgerEntries(topup), []);
});

test('a released payment outside any block is credited once it is in one', async () => {
  const topup = await held();
  await setSwitch(world.service, 'topup-credit', true);
  world.btc.reorg(3);
  await world.runUntilIdle();
  assert.equal((await releaseTopup(world.service, operator(), topup.id)).status, 'confirming');
  world.btc.mine();
  await world.runUntilIdle();
  assert.deepEqual(await world.ledgerEntries(topup), CREDITED);
});

test('switching crediting off affects neither existing credits nor dust', async () => {
  const topup = await world.createInvoice(100);
  await pay(topup, 120_000n);
  world.btc.pay(topup.deposit_address, 80_000n);
  world.btc.mine();
  await world.runUntilIdle();
  await setSwitch(world.service, 'topup-credit', false);
  world.btc.reorg(1, { drop: true });
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 6_000n);
  await pay(topup, 19n);
  assert.equal((await world.reloadTopup(topup)).status, 'credited');
  assert.equal((await world.reloadTopup(topup)).credit_held, false);
});
