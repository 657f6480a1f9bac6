import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OffsetClock } from '../../src/kernel/clock.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/kernel/time.ts';
import { startWorld } from '../support/world.ts';

const rightTime = Date.now.bind(Date);
const NEAR_MS = 30 * SECOND_MS;

const differenceMs = (time: Date) => Math.abs(time.getTime() - rightTime());

for (const [name, byMs] of [
  ['an hour ahead', HOUR_MS],
  ['31 days ahead', 31 * DAY_MS],
  ['an hour behind', -HOUR_MS],
] as const) {
  test(`a service whose machine is ${name} uses the time of the database`, async (t) => {
    t.mock.method(Date, 'now', () => rightTime() + byMs);
    const world = await startWorld({ SKERRY_SIM_INSTALL_S: '0' });
    t.after(() => world.close());
    const { db, clock } = world.opened;
    assert.ok(differenceMs(clock.now()) < NEAR_MS);
    assert.ok(Math.abs((clock.wrongByMs ?? 0) - byMs) < NEAR_MS);
    const customer = await world.customer(60);
    await world.settle();
    const times = await db.rows<{ created_at: Date }>(
      'select created_at from customers union all select created_at from transfers',
    );
    assert.ok(times.length > 1, customer.email);
    for (const { created_at: at } of times) assert.ok(differenceMs(at) < NEAR_MS, at.toISOString());
  });
}

test('a clock that is set while the service runs does not count, unless the database has it too', (t) => {
  const clock = new OffsetClock();
  const answer = (time: Date) =>
    clock.compare(time, { sentMs: performance.now(), receivedMs: performance.now() });
  answer(new Date());
  const { mock } = t.mock.method(Date, 'now', () => rightTime() + DAY_MS);
  assert.ok(differenceMs(clock.now()) < NEAR_MS);
  mock.restore();
  assert.equal(clock.wrongByMs, null);
  // Both are on one machine.
  t.mock.method(Date, 'now', () => rightTime() + DAY_MS);
  answer(new Date(rightTime() + DAY_MS));
  assert.equal(clock.wrongByMs, null);
  assert.ok(Math.abs(differenceMs(clock.now()) - DAY_MS) < NEAR_MS);
});

test('a small difference does not count, nor does an answer that took long, unless it is the first', () => {
  const clock = new OffsetClock();
  const now = performance.now();
  clock.compare(new Date(rightTime() + HOUR_MS), { sentMs: now - 1_001, receivedMs: now });
  assert.ok(Math.abs((clock.wrongByMs ?? 0) + HOUR_MS) < NEAR_MS);
  clock.compare(new Date(rightTime() + 1_500), { sentMs: now - 1, receivedMs: now });
  assert.equal(clock.wrongByMs, null);
  clock.compare(new Date(rightTime() + HOUR_MS), { sentMs: now - 1_001, receivedMs: now });
  assert.equal(clock.wrongByMs, null);
});
