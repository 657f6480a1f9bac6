import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sweepCalendar } from '../../../src/domain/billing/sweep.ts';
import { rebootServer } from '../../../src/domain/servers/operations/power.ts';
import { patchServer } from '../../../src/domain/servers/update.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { at, CalendarWorld, day } from './calendar-world.ts';

let world: CalendarWorld;
before(async () => {
  world = await CalendarWorld.open();
});
after(() => world.close());

/** Returns the ends of a server's cycles, in order. */
async function cycleEnds(id: string, count: number): Promise<string[]> {
  const days = [];
  for (let i = 0; i < count; i++) {
    const { paid_until: paidUntil } = await world.server(id);
    days.push(day(paidUntil));
    world.jumpTo(paidUntil);
    await world.runDueWork();
  }
  return days;
}

test('a server keeps the anchor day January 31 over short months and February 29 over years', async () => {
  assert.equal(day(world.now), '2030-01-31');
  const actor = await world.customer(100_000n);
  const id = await world.running(actor);
  const quarterly = await world.running(actor, { billingMonths: 3 });
  const half = await world.running(actor, { billingMonths: 6 });
  assert.deepEqual(await cycleEnds(id, 5), [
    '2030-02-28',
    '2030-03-31',
    '2030-04-30',
    '2030-05-31',
    '2030-06-30',
  ]);
  assert.equal(day((await world.server(quarterly)).paid_until), '2030-07-31');
  assert.equal(day((await world.server(half)).paid_until), '2030-07-31');
  assert.deepEqual(await world.charges(id), [500, 500, 500, 500, 500, 500]);
  assert.deepEqual(await world.charges(quarterly), [1125, 1125]);
  assert.deepEqual((await world.events(id)).slice(2, 5), [
    'server.running',
    'billing.charged',
    'billing.charged',
  ]);
  world.jumpTo(at('2032-02-29 12:00'));
  const leap = await world.running(actor, { billingMonths: 12 });
  assert.deepEqual(await cycleEnds(leap, 4), ['2033-02-28', '2034-02-28', '2035-02-28', '2036-02-29']);
  await world.world.assertInvariants();
});

test('renewals missed during downtime happen cycle by cycle, even with two concurrent runs', async () => {
  const actor = await world.customer(3_000n);
  const [first, second] = [await world.running(actor), await world.running(actor)];
  const { paid_until: end } = await world.server(first);
  world.jumpTo(new Date(end.getTime() + 65 * 86_400_000));
  await Promise.all([1, 2, 3, 4].map(() => sweepCalendar(world.service)));
  await world.runDueWork();
  assert.deepEqual(await world.charges(first), [500, 500, 500]);
  assert.deepEqual(await world.charges(second), [500, 500, 500]);
  assert.equal(await world.balance(actor), 0n);
  assert.deepEqual(
    [await world.status(first), await world.status(second)],
    ['suspended balance', 'suspended balance'],
  );
  await world.world.assertInvariants();
});

test('servers due at the same time renew by cycle end, then age, while the balance lasts', async () => {
  const actor = await world.customer(500n + 2_000n + 500n + 500n + 1_100n);
  const old = await world.running(actor);
  const dear = await world.running(actor, { plan: { ...PLAN_S2 } });
  const young = await world.running(actor);
  const youngest = await world.running(actor);
  const { db } = world.world;
  const { paid_until: end } = await world.server(youngest);
  // The youngest server's cycle ends first, the others' together.
  await db.run(`update servers set paid_until = $2, bill_at = $2 where id = any($1)`, [
    [old, dear, young],
    end,
  ]);
  const earlier = new Date(end.getTime() - 3_600_000);
  await db.run(`update servers set paid_until = $2, bill_at = $2 where id = $1`, [youngest, earlier]);
  world.jumpTo(end);
  await world.runDueWork();
  assert.deepEqual(await Promise.all([youngest, old, dear, young].map((id) => world.status(id))), [
    'running',
    'running',
    'suspended balance',
    'suspended balance',
  ]);
  assert.equal(await world.balance(actor), 100n);
});

test('after missed cycles, servers renew by the end of each cycle, one cycle after the other', async () => {
  const actor = await world.customer(500n + 1_125n + 1_625n);
  const monthly = await world.running(actor);
  const quarterly = await world.running(actor, { billingMonths: 3 });
  const { paid_until: end } = await world.server(quarterly);
  // Two more months of the first server are due before the second one, and one after it.
  world.jumpTo(new Date(end.getTime() + 15 * DAY_MS));
  await world.runDueWork();
  assert.equal((await world.charges(monthly)).length, 4);
  assert.equal(await world.status(monthly), 'running');
  assert.deepEqual(await world.charges(quarterly), [1_125]);
  assert.equal(await world.status(quarterly), 'suspended balance');
  assert.equal(await world.balance(actor), 125n);
});

test('a batch of servers in every state does what each of them needs', async () => {
  const actor = await world.customer(40_000n);
  const renews = await Promise.all(Array.from({ length: 34 }, () => world.running(actor)));
  const [ends, upcoming, suspended] = [
    await world.running(actor),
    await world.running(actor),
    await world.running(actor),
  ];
  const { paid_until: end } = await world.server(ends);
  const { db } = world.world;
  await db.run('update servers set auto_renew = false where id = any($1)', [[ends, suspended]]);
  await db.run('update servers set paid_until = $2, bill_at = $2 where id = any($1)', [
    [...renews, ends],
    end,
  ]);
  await db.run('update servers set paid_until = $2, bill_at = $3 where id = $1', [
    upcoming,
    new Date(end.getTime() + DAY_MS),
    end,
  ]);
  await db.run('update servers set paid_until = $2, bill_at = $2 where id = $1', [
    suspended,
    new Date(end.getTime() - DAY_MS),
  ]);
  world.jumpTo(end);
  await world.runDueWork();
  for (const id of renews) assert.deepEqual(await world.charges(id), [500, 500]);
  assert.equal(await world.status(ends), 'suspended not_renewed');
  assert.equal(await world.status(suspended), 'suspended not_renewed');
  assert.deepEqual(await world.charges(upcoming), [500]);
  const due = await db.row<{ at: Date }>('select bill_at as at from servers where id = $1', [upcoming]);
  assert.deepEqual(due?.at, new Date(end.getTime() + DAY_MS));
  assert.equal(await world.balance(actor), 40_000n - (37n + 34n) * 500n);
});

test('a server that is in use delays no other for long', async () => {
  const actor = await world.customer(5_000n);
  const servers = [await world.running(actor), await world.running(actor)];
  const { paid_until: end } = await world.server(servers[1] ?? '');
  world.jumpTo(end);
  const { db } = world.world;
  const sweep = await db.transaction(async (tx) => {
    await tx.row('select from servers where id = $1 for update', [servers[1] ?? '']);
    const started = sweepCalendar(world.service);
    while ((await world.charges(servers[0] ?? '')).length < 2) await pause(50);
    assert.deepEqual(await world.charges(servers[1] ?? ''), [500]);
    return { ended: started };
  });
  await sweep.ended;
  await world.runDueWork();
  assert.deepEqual(await world.charges(servers[1] ?? ''), [500, 500]);
});

const PLAN_S2 = {
  id: 's2',
  category: 'vps',
  ram_mb: 1024,
  disk_gb: 10,
  host_tags: [],
  price_cents_month: 2_000n,
  backup_percent: 0,
} as const;

test('the auto_renew setting at the end of the cycle decides the renewal', async () => {
  const actor = await world.customer(5_000n);
  const [off, back] = [await world.running(actor), await world.running(actor)];
  const patch = (id: string, auto_renew: boolean) =>
    patchServer(world.service, actor, formatId('server', id), { auto_renew });
  await patch(off, false);
  await patch(back, false);
  await world.advanceDays(20);
  await patch(back, true);
  await world.advanceDays(15);
  assert.equal(await world.status(off), 'suspended not_renewed');
  assert.equal(await world.status(back), 'running');
  await patch(off, true);
  await world.advanceDays(1);
  assert.equal(await world.status(off), 'suspended not_renewed');
  assert.deepEqual(await world.charges(off), [500]);
});

test('a rebooting server renews, and is suspended only after the reboot ends', async () => {
  const actor = await world.customer(1_500n);
  const [paid, poor] = [await world.running(actor), await world.running(actor)];
  const { paid_until: end } = await world.server(poor);
  await world.advanceTo(new Date(end.getTime() - 1_000));
  for (const id of [paid, poor]) {
    // The guest ignores the request, so a minute passes.
    await world.world.simulator.setIgnoresShutdown(id, true);
    await rebootServer(world.service, actor, formatId('server', id), { hard: false });
  }
  await world.advanceTo(end);
  assert.deepEqual(await world.charges(paid), [500, 500]);
  assert.equal(await world.status(poor), 'running');
  await world.advance(60_000);
  assert.deepEqual([await world.status(paid), await world.status(poor)], ['running', 'suspended balance']);
  assert.deepEqual((await world.events(poor)).slice(-2), ['server.rebooted', 'server.suspended']);
});

test('a first cycle that ended before the server ran restarts with its first run', async () => {
  const actor = await world.customer(500n);
  const id = await world.ordered(actor);
  await world.world.db.run(`update servers set paid_until = $2 where id = $1`, [id, world.now]);
  await world.advance(10_000);
  const server = await world.server(id);
  assert.equal(server.status, 'running');
  assert.ok(server.paid_until.getTime() > world.now.getTime() + 27 * 86_400_000);
  assert.deepEqual(await world.charges(id), [500]);
});

test('a server with faulty data is postponed and does not block the customer’s other servers', async () => {
  const actor = await world.customer(2_000n);
  const [faulty, well] = [await world.running(actor), await world.running(actor)];
  const { paid_until: end } = await world.server(faulty);
  const booked = `insert into transfers
      (id, debit_account, credit_account, amount_cents, customer_id, type, description, fact,
       balance_after_cents, created_at)
     select gen_random_uuid(), gen_random_uuid(), $2, 1, $2, 'adjustment', 'a fault', $1, 0, now()`;
  await world.world.db.run(booked, [`cycle:${faulty}:2`, actor.customerId]);
  await world.advanceTo(new Date(end.getTime() + 60_000));
  assert.deepEqual(await world.charges(faulty), [500]);
  assert.deepEqual(await world.charges(well), [500, 500]);
  assert.equal(await world.status(faulty), 'running');
});
