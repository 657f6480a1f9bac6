import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sweepCalendar } from '../../../src/domain/billing/sweep.ts';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { startServer, stopServer } from '../../../src/domain/servers/operations/power.ts';
import { freezeServer, releaseServer } from '../../../src/domain/servers/operator/controls.ts';
import { createTopup } from '../../../src/domain/topups/create.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { findTopupByRef } from '../../../src/store/topups/topups.ts';
import { CalendarWorld } from './calendar-world.ts';

let world: CalendarWorld;
before(async () => {
  world = await CalendarWorld.open();
});
after(() => world.close());

const shown = (id: string) => formatId('server', id);

/** Creates a customer whose whole balance paid one server, now suspended. Returns the end of its cycle. */
async function suspended(): Promise<{ actor: CustomerActor; id: string; end: Date }> {
  const actor = await world.customer(500n);
  const id = await world.running(actor);
  const { paid_until: end } = await world.server(id);
  await world.advanceTo(end);
  assert.equal(await world.status(id), 'suspended balance');
  return { actor, id, end };
}

test('a low balance suspends the server at once and powers off its machine', async () => {
  const { actor, id, end } = await suspended();
  await world.advance(30_000);
  assert.equal(await world.machine(id), 'stopped');
  assert.deepEqual((await world.events(id)).slice(-2), ['billing.low_balance', 'server.suspended']);
  assert.deepEqual(await world.mails(actor), ['low_balance', 'server_suspended']);
  await world.pay(actor, 499n);
  await world.advance(1_000);
  assert.equal(await world.status(id), 'suspended balance');
  await world.pay(actor, 1n);
  await world.advance(5_000);
  assert.equal(await world.status(id), 'running');
  assert.equal(await world.machine(id), 'running');
  assert.deepEqual((await world.events(id)).slice(-2), ['billing.charged', 'server.running']);
  const { paid_until: next } = await world.server(id);
  assert.ok(next.getTime() - end.getTime() > 28 * DAY_MS && next > end);
  await world.world.assertInvariants();
});

test('a payment resumes servers oldest first, and a stopped server stays stopped', async () => {
  const actor = await world.customer(2_000n);
  const [old, halted, young] = [
    await world.running(actor),
    await world.running(actor),
    await world.running(actor),
  ];
  await stopServer(world.service, actor, shown(halted));
  await world.advance(60_000);
  await drain(actor);
  const { paid_until: end } = await world.server(young);
  await world.advanceTo(new Date(end.getTime() + 120_000));
  assert.deepEqual(await Promise.all([old, halted, young].map((id) => world.status(id))), [
    'suspended balance',
    'suspended balance',
    'suspended balance',
  ]);
  const before = (await world.events(halted)).length;
  await world.pay(actor, 1_000n);
  await severalAtOnce();
  await world.advance(10_000);
  assert.deepEqual(await Promise.all([old, halted, young].map((id) => world.status(id))), [
    'running',
    'stopped',
    'suspended balance',
  ]);
  assert.deepEqual((await world.events(halted)).slice(before), ['billing.charged']);
  await world.world.assertInvariants();
});

/** Runs like several processes at once; every effect must still happen once. */
async function severalAtOnce(): Promise<void> {
  await Promise.all([1, 2, 3].map(() => sweepCalendar(world.service)));
}

/** Spends the remaining balance. */
async function drain(actor: CustomerActor): Promise<void> {
  while ((await world.balance(actor)) >= 500n) await world.ordered(actor, { autoRenew: false });
  await world.advance(10_000);
}

test('a server with renewal off resumes only when the customer starts it, which pays a cycle', async () => {
  const actor = await world.customer(1_000n);
  const id = await world.running(actor, { autoRenew: false });
  await world.advanceTo(new Date((await world.server(id)).paid_until.getTime() + DAY_MS));
  assert.equal(await world.status(id), 'suspended not_renewed');
  assert.deepEqual(await world.mails(actor), ['server_ends', 'server_suspended']);
  await startServer(world.service, actor, shown(id));
  await world.advance(10_000);
  assert.equal(await world.status(id), 'running');
  assert.deepEqual((await world.events(id)).slice(-2), ['billing.charged', 'server.running']);
});

const WARNED = ['destruction_warning 7', 'destruction_warning 3', 'destruction_warning 1'];

test('the grace period warns 7, 3, and 1 days before it ends and deletes the server', async () => {
  const { actor, id, end } = await suspended();
  await world.advanceTo(new Date(end.getTime() + 14 * DAY_MS - HOUR_MS));
  assert.deepEqual(await world.mails(actor), ['low_balance', 'server_suspended', ...WARNED]);
  assert.equal(await world.status(id), 'suspended balance');
  world.jumpTo(new Date(end.getTime() + 14 * DAY_MS + 60_000));
  await severalAtOnce();
  await world.advance(10_000);
  assert.equal(await world.status(id), 'gone');
  assert.deepEqual((await world.mails(actor)).slice(-1), ['server_destroyed']);
  assert.deepEqual((await world.events(id)).slice(-1), ['server.destroyed']);
  await world.world.assertInvariants();
});

test('after downtime for the whole grace period, the customer is still warned a day ahead', async () => {
  const { actor, id, end } = await suspended();
  world.jumpTo(new Date(end.getTime() + 40 * DAY_MS));
  await world.advance(DAY_MS - 60_000);
  assert.equal(await world.status(id), 'suspended balance');
  assert.deepEqual((await world.mails(actor)).slice(2), ['destruction_warning 1']);
  await world.advance(120_000);
  assert.equal(await world.status(id), 'gone');
});

test('a legal hold outlasts the grace period, which applies again when the hold is lifted', async () => {
  const { actor, id } = await suspended();
  await world.world.db.run(`update servers set held_at = $2, hold_order = 'order 7' where id = $1`, [
    id,
    world.now,
  ]);
  await world.advanceDays(30);
  assert.equal(await world.status(id), 'suspended balance');
  assert.deepEqual((await world.mails(actor)).slice(2), []);
  await releaseServer(world.service, shown(id), { freeze: false, hold: true });
  await world.advanceDays(13);
  assert.equal(await world.status(id), 'suspended balance');
  await world.advanceDays(2);
  assert.equal(await world.status(id), 'gone');
  assert.deepEqual((await world.mails(actor)).slice(-4), [...WARNED, 'server_destroyed']);
});

test('a frozen server is not charged; unfrozen, it resumes if paid, else its next cycle is due', async () => {
  const actor = await world.customer(5_000n);
  const [soon, late] = [await world.running(actor), await world.running(actor)];
  for (const id of [soon, late]) await freezeServer(world.service, shown(id), 'spam');
  await world.advanceDays(5);
  assert.equal(await world.status(soon), 'suspended operator');
  await releaseServer(world.service, shown(soon), { freeze: true, hold: false });
  await world.advanceDays(35);
  assert.equal(await world.status(soon), 'running');
  assert.deepEqual(await world.charges(soon), [500, 500]);
  assert.equal(await world.status(late), 'suspended operator');
  assert.deepEqual(await world.charges(late), [500]);
  await releaseServer(world.service, shown(late), { freeze: true, hold: false });
  await world.advance(10_000);
  assert.equal(await world.status(late), 'running');
  assert.deepEqual(await world.charges(late), [500, 500]);
  await world.world.assertInvariants();
});

test('a payment that arrived on its chain during downtime renews the server', async () => {
  const { id, pay, end } = await invoiced();
  await world.advanceTo(new Date(end.getTime() - HOUR_MS));
  world.jumpTo(new Date(end.getTime() - 1_000));
  pay();
  world.jumpTo(new Date(end.getTime() + 3 * DAY_MS));
  world.chain.mine(50);
  world.chain.failures.poll = 3;
  world.watching = true;
  await world.advance(60_000);
  world.watching = false;
  assert.equal(await world.status(id), 'running');
  assert.deepEqual(await world.charges(id), [500, 500]);
});

test('an unreadable chain delays a suspension for one day', async () => {
  const { id, end } = await invoiced();
  await world.advanceTo(new Date(end.getTime() - HOUR_MS));
  world.jumpTo(new Date(end.getTime() + 5 * DAY_MS));
  await world.advance(23 * HOUR_MS);
  assert.equal(await world.status(id), 'running');
  await world.advance(2 * HOUR_MS);
  assert.equal(await world.status(id), 'suspended balance');
});

test('a node that lost its network delays a suspension like an unreadable chain', async () => {
  const { id, end } = await invoiced();
  world.watching = true;
  try {
    await world.advanceTo(new Date(end.getTime() - HOUR_MS));
    world.chain.ok = false;
    await world.advanceTo(new Date(end.getTime() + 23 * HOUR_MS));
    assert.equal(await world.status(id), 'running');
    world.chain.ok = true;
    await world.advance(HOUR_MS);
    assert.equal(await world.status(id), 'suspended balance');
  } finally {
    world.watching = false;
    world.chain.ok = true;
  }
});

async function invoiced(): Promise<{ id: string; pay: () => void; end: Date }> {
  const actor = await world.customer(500n);
  const id = await world.running(actor);
  const { paid_until: end } = await world.server(id);
  await world.advanceTo(new Date(end.getTime() - 2 * HOUR_MS));
  const { order_ref: ref } = await createTopup(world.service, actor, { coin: 'BTC', amountCents: 3_000n });
  const topup = await findTopupByRef(world.world.db, actor.customerId, ref);
  assert.ok(topup);
  return { id, end, pay: () => world.chain.pay(topup.deposit_address, topup.deposit_units) };
}
