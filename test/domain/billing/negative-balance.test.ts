import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { readStatus } from '../../../src/domain/health/status.ts';
import { credit, reverse } from '../../../src/domain/ledger/transfer.ts';
import { startServer, stopServer } from '../../../src/domain/servers/operations/power.ts';
import { freezeServer, releaseServer } from '../../../src/domain/servers/operator/controls.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import type { CycleMonths } from '../../../src/spec/limits.ts';
import { CalendarWorld } from './calendar-world.ts';

let world: CalendarWorld;
before(async () => {
  world = await CalendarWorld.open();
  await world.world.db.run(`insert into service (mode, key_check) values ('sandbox', 'of a test')`);
});
after(() => world.close());

const shown = (id: string) => formatId('server', id);

/** Creates a customer whose servers were paid with a credit that is then reversed. */
async function overdrawn({
  months = 12,
  servers = 1,
}: {
  months?: CycleMonths;
  servers?: number;
} = {}): Promise<{ actor: CustomerActor; ids: string[] }> {
  const actor = await world.customer();
  const { db } = world.world;
  const payment = await credit(
    db,
    {
      ...{ customerId: actor.customerId, account: 'adjustments', amountCents: 20_000n, type: 'adjustment' },
      ...{ description: 'a payment', fact: `payment:${newId(world.now)}` },
    },
    world.now,
  );
  const ids: string[] = [];
  for (let i = 0; i < servers; i++) ids.push(await world.running(actor, { billingMonths: months }));
  await reverse(db, { transferId: payment.id, description: 'gone' }, world.now);
  return { actor, ids };
}

const statuses = (ids: readonly string[]) => Promise.all(ids.map((id) => world.status(id)));

test('servers of a balance below zero are suspended after 7 days, and status warns', async () => {
  const { actor, ids } = await overdrawn({ servers: 2 });
  const [first = '', second = ''] = ids;
  await stopServer(world.service, actor, shown(second));
  await world.advanceDays(6.9);
  assert.deepEqual(await statuses(ids), ['running', 'stopped']);
  const [finding] = (await readStatus(world.service)).filter(({ subject }) => subject === 'balances');
  assert.equal(finding?.level, 'warn');
  assert.match(finding?.message ?? '', /^1 below zero, -\d+\.\d\d USD in all, after reversed payments: \S+@/);
  await world.advanceDays(0.2);
  assert.deepEqual(await statuses(ids), ['suspended negative_balance', 'suspended negative_balance']);
  assert.equal(await world.machine(first), 'stopped');
  assert.deepEqual((await world.events(first)).slice(-1), ['server.suspended']);
  assert.deepEqual(await world.mails(actor), ['server_suspended', 'server_suspended']);
  await assert.rejects(startServer(world.service, actor, shown(first)), /balance is negative/);
  await world.world.assertInvariants();
});

test('servers resume as they were at zero or above, and are not charged for time already paid', async () => {
  const { actor, ids } = await overdrawn({ servers: 2 });
  const [first = '', second = ''] = ids;
  await stopServer(world.service, actor, shown(second));
  await world.advanceDays(30);
  const owed = -(await world.balance(actor));
  const { paid_until: end } = await world.server(first);
  await world.pay(actor, owed - 1n);
  await world.advanceDays(1);
  assert.deepEqual(await statuses(ids), ['suspended negative_balance', 'suspended negative_balance']);
  await world.pay(actor, 1n);
  await world.advance(10_000);
  assert.deepEqual(await statuses(ids), ['running', 'stopped']);
  assert.equal(await world.machine(first), 'running');
  assert.equal(await world.balance(actor), 0n);
  assert.deepEqual((await world.server(first)).paid_until, end);
  assert.equal((await world.charges(first)).length, 1);
  assert.deepEqual((await world.events(first)).slice(-1), ['server.running']);
  await world.world.assertInvariants();
});

test('a payment that leaves the balance below zero gives no new time', async () => {
  const { actor, ids } = await overdrawn();
  await world.advanceDays(5);
  await world.pay(actor, 1n);
  assert.ok((await world.balance(actor)) < 0n);
  await world.advanceDays(2.1);
  assert.deepEqual(await statuses(ids), ['suspended negative_balance']);
});

test('a balance that is repaid within the time suspends nothing', async () => {
  const { actor, ids } = await overdrawn();
  await world.advanceDays(5);
  await world.pay(actor, 100_000n);
  await world.advanceDays(10);
  assert.deepEqual(await statuses(ids), ['running']);
  assert.deepEqual(await world.mails(actor), []);
});

test('a server that stays suspended is deleted a grace period after the end of its paid time', async () => {
  const { actor, ids } = await overdrawn({ months: 1 });
  const [id = ''] = ids;
  const { paid_until: end } = await world.server(id);
  await world.advanceTo(new Date(end.getTime() - DAY_MS));
  assert.equal(await world.status(id), 'suspended negative_balance');
  await world.advanceTo(new Date(end.getTime() + DAY_MS));
  assert.equal(await world.status(id), 'suspended balance');
  assert.deepEqual(await world.mails(actor), ['server_suspended']);
  await world.advanceTo(new Date(end.getTime() + 13.9 * DAY_MS));
  assert.equal(await world.status(id), 'suspended balance');
  await world.advanceTo(new Date(end.getTime() + 14.1 * DAY_MS));
  assert.equal(await world.status(id), 'gone');
  assert.deepEqual(await world.mails(actor), [
    ...['server_suspended', 'destruction_warning 7', 'destruction_warning 3', 'destruction_warning 1'],
    'server_destroyed',
  ]);
});

test('after its paid time, a suspended server resumes once the balance pays the next cycle', async () => {
  const { actor, ids } = await overdrawn({ months: 1 });
  const [id = ''] = ids;
  const { paid_until: end } = await world.server(id);
  await world.advanceTo(new Date(end.getTime() + DAY_MS));
  await world.pay(actor, -(await world.balance(actor)));
  await world.advance(10_000);
  assert.equal(await world.status(id), 'suspended balance');
  await world.pay(actor, 500n);
  await world.advance(10_000);
  assert.equal(await world.status(id), 'running');
  assert.deepEqual(await world.charges(id), [500, 500]);
});

test('an unfrozen server of a customer below zero stays suspended until the balance is repaid', async () => {
  const { actor, ids } = await overdrawn();
  const [id = ''] = ids;
  await freezeServer(world.service, shown(id), 'spam');
  await world.advanceDays(9);
  await releaseServer(world.service, shown(id), { freeze: true, hold: false });
  await world.advance(10_000);
  assert.equal(await world.status(id), 'suspended negative_balance');
  await world.pay(actor, -(await world.balance(actor)));
  await world.advance(10_000);
  assert.equal(await world.status(id), 'running');
  await world.world.assertInvariants();
});
