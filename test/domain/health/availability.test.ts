import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { measureAvailability, readAvailability } from '../../../src/domain/health/availability.ts';
import { createIncident } from '../../../src/domain/health/incidents.ts';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/kernel/time.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';

describe('availability', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    // In the middle of a day.
    world.clock.offsetMs += 36 * HOUR_MS - (world.clock.now().getTime() % DAY_MS);
    await world.db.run(
      'insert into host_facts (host_id, seen_at, latency_ms) select id, now(), 1 from hosts',
    );
  });
  after(() => world?.close());
  beforeEach(async () => {
    await world.db.run('delete from availability');
    await world.db.run('delete from component_checks');
    await world.db.run('delete from incident_updates');
    await world.db.run('delete from incidents');
    await world.db.run('update host_facts set away_since = null');
  });

  /** Measures once, and then each minute. */
  async function measureFor(minutes: number): Promise<void> {
    await measureAvailability(world.service);
    for (let minute = 0; minute < minutes; minute++) {
      world.clock.offsetMs += MINUTE_MS;
      await measureAvailability(world.service);
    }
  }
  const read = async (component: string) =>
    (await readAvailability(world.service)).find((one) => one.component === component) ??
    assert.fail(component);
  /** Lets an outage of the whole service end now, that lasted this long in real time. */
  async function outage(minutes: number): Promise<void> {
    await world.db.run(
      `update component_checks set checked_real_at = checked_real_at - make_interval(mins => $1)`,
      [minutes],
    );
    world.clock.offsetMs += minutes * MINUTE_MS;
  }

  it('everything that works is available, and a day without measurements is unknown', async () => {
    await measureFor(3);
    for (const { component, lost, available, days } of await readAvailability(world.service)) {
      assert.deepEqual([lost, available, days.at(-1), days.at(-2)], [0, 1, 1, null], component);
      assert.equal(days.length, LIMITS.availabilityDays);
    }
  });

  it('a region loses the share of its hosts that have not answered for a minute', async () => {
    await measureFor(1);
    const away = async (seconds: number) =>
      await world.db.run(
        `update host_facts set away_since = now() - make_interval(secs => $1)
          where host_id = (select min(id::text)::uuid from hosts where region_id = 'par')`,
        [seconds],
      );
    await away(30);
    await measureAvailability(world.service);
    assert.equal((await read('region:par')).lost, 0);
    await away(90);
    await measureFor(9);
    const { hosts, hosts_up, lost, available } = await read('region:par');
    assert.equal(hosts_up, (hosts ?? 0) - 1);
    assert.equal(lost, 1 / (hosts ?? 1));
    assert.ok(Math.abs((available ?? 0) - (1 - (0.9 * 1) / (hosts ?? 1))) < 0.01, String(available));
    assert.equal((await read('region:zrh')).available, 1);
  });

  it('a paused service is an outage of its component alone', async () => {
    await setSwitch(world.service, 'deploys', false);
    await measureFor(2);
    await setSwitch(world.service, 'deploys', true);
    assert.equal((await read('deploys')).available, 0);
    assert.equal((await read('panel')).available, 1);
  });

  it('time in which the service was not running is an outage of the panel', async () => {
    await measureFor(10);
    await outage(30);
    await measureAvailability(world.service);
    const { available, lost } = await read('panel');
    assert.equal(lost, 0);
    assert.ok(Math.abs((available ?? 0) - 10 / 40) < 0.01, String(available));
    assert.equal((await read('payments')).available, 1);
  });

  it('an outage over midnight belongs to both days', async () => {
    await measureFor(1);
    await outage(24 * 60);
    await measureAvailability(world.service);
    const { days } = await read('panel');
    assert.ok((days.at(-1) ?? 1) < 0.01 && (days.at(-2) ?? 1) < 0.01);
    assert.equal(days.at(-3), null);
  });

  it('a clock that jumps is no outage', async () => {
    await measureFor(1);
    world.clock.offsetMs += 3 * DAY_MS;
    await measureAvailability(world.service);
    assert.equal((await read('panel')).available, 1);
    assert.equal((await read('panel')).days.at(-2), null);
  });

  it('time lost in planned maintenance of the component is not counted', async () => {
    await measureFor(1);
    const now = world.clock.now().getTime();
    await createIncident(world.service, {
      ...{ title: 'Upgrade', text: 'Soon.', components: ['panel'], state: 'investigating' },
      planned: { from: new Date(now - MINUTE_MS), until: new Date(now + HOUR_MS) },
    });
    await outage(30);
    await measureAvailability(world.service);
    assert.equal((await read('panel')).available, 1);
  });

  it('an old measurement says nothing about now, and a region that is gone is not shown', async () => {
    await measureFor(1);
    world.clock.offsetMs += 6 * MINUTE_MS;
    assert.equal((await read('panel')).lost, null);
    await world.db.run(`update regions set active = false where id = 'buh'`);
    await measureAvailability(world.service);
    const shown = (await readAvailability(world.service)).map(({ component }) => component);
    assert.ok(shown.includes('region:par') && !shown.includes('region:buh'));
    await world.db.run(`update regions set active = true where id = 'buh'`);
  });

  it('the status page shows the state, bars with a text, and facts about regions', async () => {
    await measureFor(2);
    await outage(30);
    await measureAvailability(world.service);
    const { body } = await world.app.inject({ url: '/status', headers: { accept: 'text/html' } });
    assert.match(
      body,
      /<strong>Paris<\/strong> <span class="state good">operational<[\s\S]*?>100% available/,
    );
    assert.match(
      body,
      /<strong>Panel and API<\/strong>[\s\S]*?"Measured on \d+ days?, with outages on \d: \d{4}-/,
    );
    assert.equal(body.match(/<div class="days".*?<\/div>/)?.[0].match(/<i/g)?.length, 90);
    assert.match(body, /Paris<\/a><\/th>[\s\S]*?\d+ of \d+ reachable[\s\S]*?plenty/);
    assert.ok(Buffer.byteLength(body) < 60_000, `${Buffer.byteLength(body)} bytes`);
  });
});
