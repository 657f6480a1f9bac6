/**
 * Fixture for tests of volumes and snapshots: regions with hosts, running servers, and the driver's state.
 */
import assert from 'node:assert/strict';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { detachVolume } from '../../../src/domain/volumes/attach.ts';
import { createVolume, deleteVolume } from '../../../src/domain/volumes/change.ts';
import { listVolumes } from '../../../src/domain/volumes/read.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { formatId, parseId } from '../../../src/kernel/ids.ts';
import type { ComputeDriver } from '../../../src/ports/compute.ts';
import type { VolumeBody } from '../../../src/spec/schemas/volume.ts';
import { S1 } from '../../support/fixtures.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

export interface VolumeWorld extends TestService {
  /** Adds a region whose hosts fit so many servers each: 10 GiB of disk per server, and 5 GiB more. */
  region(rooms?: readonly number[]): Promise<string>;
  /** Creates a running server; returns its public id. */
  server(actor: CustomerActor, regionId: string): Promise<string>;
  /** Creates a volume of 10 GiB; returns its public id. */
  volume(actor: CustomerActor, regionId: string, wanted?: Partial<VolumeBody>): Promise<string>;
  /** The attachment at the driver: `server device`, or null. */
  attachment(shownVolumeId: string): Promise<string | null>;
  /** The events about this volume or snapshot in order, each with its main fields. */
  recordedEvents(shownId: string): Promise<string[]>;
  /** Detaches and deletes the customer's volumes. */
  deleteVolumes(actor: CustomerActor): Promise<void>;
  /** GiB of disk reserved in the region. */
  usedDisk(regionId: string): Promise<number>;
  /** GiB of disk reserved on the server's host. */
  usedDiskOnHostOf(shownServerId: string): Promise<number>;
  /** Runs tasks that are due or in progress, without moving the clock. */
  runDueTasks(): Promise<void>;
}

export async function volumeWorld(): Promise<VolumeWorld> {
  const world = await startTestService({ poolSize: 16 });
  let regions = 0;
  return {
    ...world,
    region: async (rooms = [100]) => {
      const id = `v${regions++}`;
      await world.fixtures.addPlans([id], [S1]);
      await world.fixtures.addHosts(rooms, id);
      await world.fixtures.addAddresses(10, 10, id);
      return id;
    },
    server: async (actor, regionId) => {
      const { server } = await deploy(world.service, actor, world.fixtures.buildOrder({ regionId }));
      await world.runUntilIdle();
      return formatId('server', server.id);
    },
    volume: async (actor, region, wanted = {}) => {
      const body = { name: 'data', size_gb: 10, region, ...wanted };
      return (await createVolume(world.service, actor, body)).id;
    },
    attachment: async (shown) => {
      const row = await world.db.row<{ machine_id: string; device: string }>(
        'select machine_id, device from sim.attachments where volume_id = $1',
        [parseId('volume', shown)],
      );
      return row ? `${formatId('server', row.machine_id)} ${row.device}` : null;
    },
    recordedEvents: async (id) => {
      // The clock may stand still: order by transaction, then by time within one transaction.
      const rows = await world.db.rows<{ line: string }>(
        `select concat_ws(' ', type, data -> 'volume' ->> 'attached_to', data -> 'volume' ->> 'device',
                          data -> 'snapshot' ->> 'status') as line
           from events where $1 in (data -> 'volume' ->> 'id', data -> 'snapshot' ->> 'id')
          order by xmin::text::bigint, created_at`,
        [id],
      );
      return rows.map(({ line }) => line);
    },
    deleteVolumes: async (actor) => {
      const { items } = await listVolumes(world.service, actor, {
        filter: {},
        sort: 'name',
        descending: false,
        after: null,
        size: 100,
      });
      for (const { id, attached_to } of items) {
        if (attached_to) await detachVolume(world.service, actor, id);
        await deleteVolume(world.service, actor, id);
      }
      await world.runUntilIdle();
    },
    usedDisk: async (regionId) => {
      const row = await world.db.row<{ gb: bigint }>(
        'select sum(used_disk_gb) as gb from hosts where region_id = $1',
        [regionId],
      );
      return Number(row?.gb);
    },
    usedDiskOnHostOf: async (shown) => {
      const row = await world.db.row<{ gb: number }>(
        'select h.used_disk_gb as gb from hosts h join servers s on s.host_id = h.id where s.id = $1',
        [parseId('server', shown)],
      );
      return Number(row?.gb);
    },
    runDueTasks: async () => {
      await world.runner.runDue(performance.now() + 20_000);
    },
  };
}

/** Returns the refusal of `work`: its code and its extras. */
export async function refusal(work: Promise<unknown>): Promise<Record<string, unknown>> {
  const error = await work.then(
    () => assert.fail('the work succeeded'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error;
  return { code: error.code, ...error.extras };
}

/** Returns the service of a process that dies right after the driver call: it writes nothing more. */
export function crashingService(service: Service, verb: keyof ComputeDriver): Service {
  let isDead = false;
  const db = new Proxy(service.db, {
    get: (target, name) => (isDead ? () => Promise.reject(new Error('killed')) : Reflect.get(target, name)),
  });
  const die = async () => {
    isDead = true;
  };
  return { ...service, db, compute: afterCall(service.compute, verb, die) };
}

/** Returns the driver with a hook that runs as soon as the call has succeeded. */
export function afterCall(
  compute: ComputeDriver,
  verb: keyof ComputeDriver,
  hook: () => Promise<unknown>,
): ComputeDriver {
  return new Proxy(compute, {
    get: (driver, name: keyof ComputeDriver) => {
      const member = driver[name];
      if (typeof member !== 'function') return member;
      const call = member.bind(driver) as (...given: unknown[]) => Promise<unknown>;
      if (name !== verb) return call;
      return async (...given: unknown[]) => {
        const result = await call(...given);
        await hook();
        return result;
      };
    },
  });
}
