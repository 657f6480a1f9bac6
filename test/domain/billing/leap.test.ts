/** The time of a live service that leaps, as when the clock of its database is wrong. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isTimeInDoubt } from '../../../src/domain/billing/leap.ts';
import { sweepCalendar } from '../../../src/domain/billing/sweep.ts';
import type { Service } from '../../../src/domain/context.ts';
import { isSwitchOn, setSwitch } from '../../../src/domain/rules/switches.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { retainJob } from '../../../src/workers/retain.ts';
import { CalendarWorld } from './calendar-world.ts';

describe('a leap of the time', () => {
  let calendar: CalendarWorld;
  let live: Service;
  before(async () => {
    calendar = await CalendarWorld.open();
    const { service, world } = calendar;
    live = { ...service, settings: { ...service.settings, mode: 'live' } };
    await world.db.run(`insert into service (mode, key_check) values ('live', 'of a test')`);
  });
  after(() => calendar.world.close());

  const sweep = async (service = live) => {
    for (let did = 1; did > 0; ) did = await sweepCalendar(service);
  };
  const moveBy = (ms: number) => calendar.jumpTo(new Date(calendar.now.getTime() + ms));
  const renews = () => isSwitchOn(live.db, 'renewals');

  it('charges nothing and deletes nothing until staff turn renewals on', async () => {
    const id = await calendar.running(await calendar.customer(100_000n));
    const { paid_until: paidUntil } = await calendar.server(id);
    const paid = async () => (await calendar.server(id)).paid_until;
    await sweep();
    moveBy(40 * DAY_MS);
    await sweep();
    assert.deepEqual(await paid(), paidUntil);
    assert.equal(await renews(), false);
    assert.equal(await isTimeInDoubt(live), true);
    assert.equal(await retainJob(live).run(), 0);
    const [row] = await live.db.rows<{ reason: string }>(
      `select reason from switches where name = 'renewals'`,
    );
    assert.match(row?.reason ?? '', /^The time leapt by 40 days: /);

    await setSwitch(live, 'renewals', true);
    assert.equal(await isTimeInDoubt(live), false);
    await sweep();
    assert.ok((await paid()) > paidUntil);
  });

  it('is none if the service runs, or was away for less than a week', async () => {
    for (const ms of [HOUR_MS, 7 * DAY_MS, 7 * DAY_MS, -30 * DAY_MS, DAY_MS]) {
      moveBy(ms);
      await sweep();
      assert.equal(await renews(), true);
      assert.equal(await isTimeInDoubt(live), false);
    }
  });

  it('does not count in a sandbox, whose clock is moved on purpose', async () => {
    moveBy(400 * DAY_MS);
    await sweep(calendar.service);
    assert.equal(await renews(), true);
    assert.equal(await isTimeInDoubt(calendar.service), false);
  });
});
