/** A service whose samples a test decides, and the job that evaluates alerts on them. */
import assert from 'node:assert/strict';
import type { CustomerActor, Service } from '../../../../src/domain/context.ts';
import { createAlert } from '../../../../src/domain/servers/alerts/change.ts';
import { findAlert } from '../../../../src/domain/servers/alerts/read.ts';
import { deploy } from '../../../../src/domain/servers/deploy/deploy.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { MINUTE_MS } from '../../../../src/kernel/time.ts';
import type { MinuteSample } from '../../../../src/ports/compute.ts';
import type { Alert, CreateAlert } from '../../../../src/spec/schemas/alert.ts';
import { sampleJob } from '../../../../src/workers/jobs.ts';
import { sampleMinutesJob } from '../../../../src/workers/sample-minutes.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

export interface AlertsWorld extends Pick<TestService, 'db' | 'clock' | 'close'> {
  readonly world: TestService;
  readonly service: Service;
  readonly actor: CustomerActor;
  /** The load of machines by their id; a machine without one has no samples. Default: nothing is used. */
  readonly loads: Map<string, Partial<MinuteSample> | null>;
  /** Returns the internal id of a new server that runs. */
  order(): Promise<string>;
  create(body: Partial<CreateAlert>): Promise<Alert>;
  read(alert: Alert): Promise<Alert>;
  /** Moves the clock by minutes, and runs the job at each. */
  pass(minutes: number): Promise<void>;
  /** Returns the alert events since the last call, as `alert.fired srv_…`, oldest first. */
  events(): Promise<string[]>;
  mails(): Promise<number>;
}

export const shown = (serverId: string) => formatId('server', serverId);

export async function alertsWorld(): Promise<AlertsWorld> {
  const world = await startTestService();
  await world.fixtures.addPlans();
  await world.fixtures.addHosts([40]);
  await world.fixtures.addAddresses(40);
  const actor = await world.fixtures.addCustomer(100_000n);
  const loads = new Map<string, Partial<MinuteSample> | null>();
  const reported = new Map<string, Partial<MinuteSample>>();
  const compute = Object.create(world.service.compute, {
    observe: { value: (ids: readonly string[]) => world.service.compute.observe(ids) },
    sample: { value: (ids: readonly string[], since: Date) => world.service.compute.sample(ids, since) },
    sampleMinutes: {
      value: async (ids: readonly string[], since: Date) => {
        const all = await world.service.compute.sampleMinutes(ids, since);
        const idle = { cpuPct: 0, ramMb: 0, diskReadBps: 0, diskWriteBps: 0, netInBps: 0, netOutBps: 0 };
        return all.flatMap(({ id, minute }) => {
          const key = `${id} ${minute.getTime()}`;
          // A minute that was reported once does not change.
          const load = reported.get(key) ?? loads.get(id);
          if (load === null) return [];
          reported.set(key, load ?? idle);
          return [{ id, minute, ...idle, ...load }];
        });
      },
    },
  });
  const service: Service = { ...world.service, compute };
  let eventsSeen = -1n;
  return {
    ...{ world, service, actor, loads, db: world.db, clock: world.clock, close: () => world.close() },
    order: async () => {
      const { server } = await deploy(service, actor, world.fixtures.buildOrder());
      await world.runUntilIdle();
      while ((await sampleJob(service).run()) > 0);
      return server.id;
    },
    create: (body) =>
      createAlert(service, actor, {
        ...{ name: 'test', metric: 'cpu_pct', window: '5m' },
        ...(body.metric === 'unreachable' ? {} : { value: 90 }),
        ...(body.servers ? {} : { label_selector: '' }),
        ...body,
      } as CreateAlert),
    read: (alert) => findAlert(service, actor, alert.id),
    pass: async (minutes) => {
      for (let minute = 0; minute < minutes; minute++) {
        world.clock.moveTo(new Date((Math.floor(world.clock.now().getTime() / MINUTE_MS) + 1) * MINUTE_MS));
        await runMinute(service);
      }
    },
    events: async () => {
      const rows = await world.db.rows<{ place: bigint; type: string; server: string; alert: string | null }>(
        `select place, type, data -> 'server' ->> 'id' as server, data -> 'alert' ->> 'id' as alert
           from events where type like 'alert.%' and place > $1 order by place`,
        [eventsSeen],
      );
      eventsSeen = rows.at(-1)?.place ?? eventsSeen;
      assert.ok(rows.every(({ alert }) => alert?.startsWith('alr_')));
      return rows.map(({ type, server }) => `${type} ${server}`);
    },
    mails: async () => {
      const row = await world.db.row<{ n: bigint }>(
        `select count(*) as n from mails where kind = 'alerts_fired'`,
      );
      return Number(row?.n);
    },
  };
}

export async function runMinute(service: Service): Promise<void> {
  const job = sampleMinutesJob(service);
  while ((await job.run()) > 0);
}
