import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../src/domain/context.ts';
import { deploy } from '../../src/domain/servers/deploy/deploy.ts';
import { getMetrics } from '../../src/domain/servers/metrics.ts';
import { formatId } from '../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../../src/kernel/time.ts';
import { LIMITS } from '../../src/spec/limits.ts';
import type { Job } from '../../src/workers/job.ts';
import { sampleJob } from '../../src/workers/jobs.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

describe('metrics', () => {
  let world: TestService;
  let actor: CustomerActor;
  let service: Service;
  let job: Job;
  /** Driver calls: the number of machines, and the start time. */
  const calls: [ids: number, since: Date][] = [];

  before(async () => {
    world = await startTestService();
    await world.fixtures.addPlans();
    await world.fixtures.addHosts([40]);
    await world.fixtures.addAddresses(40);
    actor = await world.fixtures.addCustomer(100_000n);
    const compute = Object.create(world.service.compute, {
      sample: {
        value: (ids: readonly string[], since: Date) => {
          calls.push([ids.length, since]);
          return world.service.compute.sample(ids, since);
        },
      },
    });
    service = { ...world.service, compute };
    job = sampleJob(service);
  });
  after(() => world.close());

  async function order(): Promise<string> {
    const { server } = await deploy(world.service, actor, world.fixtures.buildOrder());
    return formatId('server', server.id);
  }
  async function run(): Promise<void> {
    while ((await job.run()) > 0);
  }
  const metrics = (id: string) => getMetrics(world.service, actor, id);
  const hours = async (id: string) => (await metrics(id)).series.cpu_pct.map(([at]) => (at ?? 0) * 1000);
  const now = () => world.clock.now().getTime();

  it('the metrics of a server start soon after its first run and include the current hour', async () => {
    const id = await order();
    await run();
    assert.deepEqual(calls, []);
    await world.runUntilIdle();
    await run();
    const { series, ...about } = await metrics(id);
    assert.deepEqual(about, {
      object: 'metrics',
      server: id,
      start: '2030-01-01T13:00:00Z',
      end: world.clock.now().toISOString().replace('.000', ''),
      step_s: 3600,
    });
    const hour = Math.floor(now() / HOUR_MS) * HOUR_MS;
    for (const [name, points] of Object.entries(series)) {
      assert.deepEqual(
        points.map(([at]) => at),
        [hour / 1000],
        name,
      );
      assert.ok(
        points.every(([, value]) => (value ?? -1) >= 0),
        name,
      );
    }
  });

  it('metrics are read every five minutes at most, from the last stored hour on', async () => {
    calls.length = 0;
    await run();
    world.clock.advanceS(4 * 60);
    await run();
    assert.deepEqual(calls, []);
    const hour = new Date(Math.floor(now() / HOUR_MS) * HOUR_MS);
    world.clock.advanceS(60);
    await run();
    assert.deepEqual(calls, [[1, hour]]);
  });

  it('metrics have no gap after an outage of the job or of the driver', async () => {
    const id = await order();
    await world.runUntilIdle();
    await run();
    const [firstHour = 0] = await hours(id);
    await world.faults.set({ driver: 'compute', operation: 'sample', times: 3 });
    for (let n = 0; n < 3; n++) {
      world.clock.advanceS(2 * 3600);
      await run();
    }
    assert.equal((await hours(id)).length, 1);
    world.clock.advanceS(2 * 3600);
    await run();
    const wanted = Array.from({ length: 9 }, (_, n) => firstHour + n * HOUR_MS);
    assert.deepEqual(await hours(id), wanted);
  });

  it('metrics after a year without samples cover the last 30 days, read once in batches', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, order));
    await world.runUntilIdle();
    await run();
    calls.length = 0;
    world.clock.advanceS(365 * 86_400);
    await run();
    const earliest = now() - LIMITS.metricsRetentionDays * DAY_MS;
    assert.deepEqual(calls.map(([count]) => count).toSorted(), [25, 7]);
    assert.ok(calls.every(([, since]) => since.getTime() === earliest));
    for (const id of ids.slice(0, 3)) {
      const seen = await hours(id);
      assert.equal(seen.length, LIMITS.metricsRetentionDays * 24);
      assert.ok(seen.every((at) => at >= earliest && at <= now()));
    }
    world.clock.advanceS(86_400);
    assert.equal((await hours(ids[0] ?? '')).length, (LIMITS.metricsRetentionDays - 1) * 24);
  });

  it('the metrics of a removed server are deleted, and no others', async () => {
    const count = async (where: string) =>
      (await world.db.row<{ count: bigint }>(`select count(*) from metrics where ${where}`))?.count ?? 0n;
    const removed = await world.db.row<{ id: string }>('select min(server_id::text) as id from metrics');
    const [own, others] = [`server_id = '${removed?.id}'`, `server_id <> '${removed?.id}'`];
    const [ownBefore, othersBefore] = [await count(own), await count(others)];
    assert.ok(ownBefore > 0n && othersBefore > 0n);
    await world.db.run('delete from operations');
    await world.db.run('delete from servers where id = $1', [removed?.id ?? null]);
    assert.deepEqual([await count(own), await count(others)], [0n, othersBefore]);
  });

  it('metrics of a server that is removed during the driver call are not stored', async () => {
    await world.db.run(`update samplings set due_at = '2000-01-01'`);
    const gone = Object.create(world.service.compute, {
      sample: {
        value: async (sampled: readonly string[], since: Date) => {
          const found = await world.service.compute.sample(sampled, since);
          await world.db.run('delete from metrics; ');
          await world.db.run('delete from operations');
          await world.db.run('delete from servers where id = $1', [sampled[0]]);
          return found;
        },
      },
    });
    const servers = await world.db.row<{ count: bigint }>('select count(*) from servers');
    await sampleJob({ ...service, compute: gone }).run();
    const left = await world.db.row<{ servers: bigint; sampled: bigint }>(
      'select (select count(*) from servers) as servers, count(distinct server_id) as sampled from metrics',
    );
    assert.equal(left?.servers, (servers?.count ?? 0n) - 1n);
    assert.equal(left?.sampled, 24n);
  });
});
