import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../src/domain/context.ts';
import { deploy } from '../../src/domain/servers/deploy/deploy.ts';
import { getMetrics } from '../../src/domain/servers/metrics.ts';
import { formatId } from '../../src/kernel/ids.ts';
import { MINUTE_MS } from '../../src/kernel/time.ts';
import { sampleJob } from '../../src/workers/jobs.ts';
import { sampleMinutesJob } from '../../src/workers/sample-minutes.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

describe('metrics by the minute', () => {
  let world: TestService;
  let service: Service;
  let actor: CustomerActor;
  let id: string;
  /** Driver calls: the machines, and the start time. */
  const calls: [ids: readonly string[], since: string][] = [];
  /** Minutes that the host does not have. */
  const missing = new Set<string>();

  before(async () => {
    world = await startTestService();
    await world.fixtures.addPlans();
    await world.fixtures.addHosts([4]);
    await world.fixtures.addAddresses(8);
    actor = await world.fixtures.addCustomer(100_000n);
    const { server } = await deploy(world.service, actor, world.fixtures.buildOrder());
    id = server.id;
    await world.runUntilIdle();
    // Enrolls the server.
    while ((await sampleJob(world.service).run()) > 0);
    const compute = Object.create(world.service.compute, {
      observe: { value: (ids: readonly string[]) => world.service.compute.observe(ids) },
      sampleMinutes: {
        value: async (ids: readonly string[], since: Date) => {
          calls.push([ids, clockOf(since)]);
          const samples = await world.service.compute.sampleMinutes(ids, since);
          return samples.filter(({ minute }) => !missing.has(clockOf(minute)));
        },
      },
    });
    service = { ...world.service, compute };
  });
  after(() => world.close());
  beforeEach(() => {
    calls.length = 0;
    missing.clear();
  });

  const clockOf = (at: Date) => at.toISOString().slice(11, 16);
  const moveTo = (time: string) => world.clock.moveTo(new Date(`2030-03-01T${time}Z`));
  async function run(): Promise<void> {
    const job = sampleMinutesJob(service);
    while ((await job.run()) > 0);
  }
  const series = async (step: 60 | 300) =>
    (await getMetrics(service, actor, formatId('server', id), step)).series;
  const times = async (step: 60 | 300) =>
    (await series(step)).cpu_pct.map(([at = 0]) => clockOf(new Date(at * 1_000)));

  it('a round reads what is missing, once a minute in one process', async () => {
    moveTo('10:00:00');
    await run();
    moveTo('10:03:10');
    await Promise.all([run(), run()]);
    await run();
    assert.deepEqual(calls, [
      [[id], '04:00'],
      [[id], '10:00'],
    ]);
    assert.deepEqual((await times(60)).slice(-4), ['09:59', '10:00', '10:01', '10:02']);
    moveTo('10:04:00');
    await run();
    assert.deepEqual(calls.at(-1), [[id], '10:00']);
    assert.equal((await times(60)).at(-1), '10:03');
  });

  it('five minutes are the means of their minutes, once they have ended', async () => {
    moveTo('10:04:59');
    await run();
    assert.equal((await times(300)).at(-1), '09:55');
    moveTo('10:05:00');
    await run();
    assert.equal((await times(300)).at(-1), '10:00');
    const [fine, coarse] = [await series(60), await series(300)];
    for (const name of ['cpu_pct', 'ram_mb', 'net_out_bps'] as const) {
      const minutes = fine[name].slice(-5).map(([, value = 0]) => value);
      const mean = minutes.reduce((sum, value) => sum + value, 0) / 5;
      const [, shown = 0] = coarse[name].at(-1) ?? [];
      assert.ok(Math.abs(shown - mean) <= Math.max(0.5, mean / 1_000), `${name}: ${shown} and ${mean}`);
    }
  });

  it('a minute without a sample is a gap, which a later round fills', async () => {
    missing.add('10:06').add('10:08');
    moveTo('10:08:00');
    await run();
    assert.deepEqual((await times(60)).slice(-2), ['10:05', '10:07']);
    const all = Object.values(await series(60)).flat();
    assert.ok(all.every(([at = 0]) => clockOf(new Date(at * 1_000)) !== '10:06'));
    missing.clear();
    moveTo('10:09:00');
    await run();
    assert.deepEqual((await times(60)).slice(-4), ['10:05', '10:06', '10:07', '10:08']);
  });

  it('minutes have no gap after an outage of the driver', async () => {
    await world.faults.set({ driver: 'compute', operation: 'sampleMinutes', times: 2 });
    for (const time of ['10:20:00', '10:40:00', '11:00:00']) {
      moveTo(time);
      await run();
    }
    const seen = await times(60);
    assert.deepEqual(seen.slice(seen.indexOf('10:00')).length, 60);
    assert.equal(seen.at(-1), '10:59');
  });

  it('a server that is off has no minutes, and is not asked for', async () => {
    await world.db.run(`update servers set status = 'stopped' where id = $1`, [id]);
    moveTo('11:02:00');
    await run();
    assert.deepEqual(calls, []);
    await world.db.run(`update servers set status = 'running' where id = $1`, [id]);
  });

  it('six hours of minutes and two days of five minutes are shown', async () => {
    for (let hour = 0; hour < 60; hour += 5) {
      world.clock.advanceS(5 * 3_600);
      await run();
    }
    world.clock.advanceS(100);
    assert.equal((await times(60)).length, 358);
    assert.equal((await times(300)).length, 575);
    const { start, end, step_s } = await getMetrics(service, actor, formatId('server', id), 300);
    assert.equal(step_s, 300);
    assert.equal(Date.parse(start) % (5 * MINUTE_MS), 0);
    assert.ok(Date.parse(end) - Date.parse(start) <= 48 * 3_600_000);
  });

  it('a server is silent from the round on that does not see it running', async () => {
    const silence = () =>
      world.db.row<{ since: Date | null }>(
        'select silent_since as since from samplings where server_id = $1',
        [id],
      );
    await run();
    const host = await world.db.row<{ name: string }>('select name from hosts');
    await world.simulator.setHostDown(host?.name ?? '', true);
    world.clock.advanceS(60);
    await run();
    assert.equal((await silence())?.since, null);
    world.clock.advanceS(120);
    await run();
    const noticed = world.clock.now();
    assert.deepEqual((await silence())?.since, noticed);
    world.clock.advanceS(60);
    await run();
    assert.deepEqual((await silence())?.since, noticed);
    await world.simulator.setHostDown(host?.name ?? '', false);
    world.clock.advanceS(60);
    await run();
    assert.equal((await silence())?.since, null);
  });
});
