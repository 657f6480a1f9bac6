/**
 * The task of a volume: driver calls that repeat, fail, or are followed by a kill, and customers who change
 * their mind faster than the driver works. Every acknowledged change is announced once, in order.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import fc from 'fast-check';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { attachVolume, detachServerVolumes, detachVolume } from '../../../src/domain/volumes/attach.ts';
import { deleteVolume, updateVolume } from '../../../src/domain/volumes/change.ts';
import { ensureVolume } from '../../../src/domain/volumes/ensure.ts';
import { getVolume } from '../../../src/domain/volumes/read.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import { type ComputeDriver, ComputeError } from '../../../src/ports/compute.ts';
import { lockServer } from '../../../src/store/servers/servers.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { afterCall, crashingService, type VolumeWorld, volumeWorld } from './volume-world.ts';

let world: VolumeWorld;
let actor: CustomerActor;
let region: string;
let server: string;
let other: string;
let id: string;

before(async () => {
  world = await volumeWorld();
  actor = await world.fixtures.addCustomer(100_000n);
  region = await world.region([5, 5]);
  [server, other] = [await world.server(actor, region), await world.server(actor, region)];
});
after(() => world.close());
beforeEach(async () => {
  id = await world.volume(actor, region);
});
afterEach(async () => {
  mock.restoreAll();
  for (const operation of ['attach', 'detach', 'grow', 'removeVolume']) await fail(operation, 0);
  await world.deleteVolumes(actor);
});

const fail = (operation: string, times: number) => world.faults.set({ driver: 'compute', operation, times });
const attach = (to = server) => attachVolume(world.service, actor, id, { server: to });
const detach = () => detachVolume(world.service, actor, id);
const ensure = (service: Service = world.service) => ensureVolume(service, parseId('volume', id) ?? '');
const ATTACHED = (to = server, device = '/dev/vdb') => `volume.attached ${to} ${device}`;

describe('changes faster than the driver', () => {
  it('every acknowledged change is announced in order once the driver has applied the last one', async () => {
    await attach();
    await detach();
    await attach(other);
    await detach();
    assert.equal((await attach()).device, '/dev/vdb');
    assert.deepEqual(await world.recordedEvents(id), []);
    await world.runUntilIdle();
    assert.equal(await world.attachment(id), ATTACHED().slice('volume.attached '.length));
    const announced = [ATTACHED(), 'volume.detached', ATTACHED(other), 'volume.detached', ATTACHED()];
    assert.deepEqual(await world.recordedEvents(id), announced);
    await world.assertInvariants();
  });

  it('a change during the driver call is announced only after the driver has applied it', async () => {
    await attach();
    const service = { ...world.service, compute: afterCall(world.service.compute, 'attach', detach) };
    await ensure(service);
    assert.deepEqual(await world.recordedEvents(id), [ATTACHED()], 'only the applied state is announced');
    await world.runUntilIdle();
    assert.equal(await world.attachment(id), null);
    assert.deepEqual(await world.recordedEvents(id), [ATTACHED(), 'volume.detached']);
  });

  it('a volume deleted right after its detachment still announces the detachment', async () => {
    await attach();
    await detach();
    await deleteVolume(world.service, actor, id);
    await world.runUntilIdle();
    assert.deepEqual(await world.recordedEvents(id), [ATTACHED(), 'volume.detached']);
    assert.deepEqual(await world.db.rows('select from volume_changes'), []);
    await world.assertInvariants();
  });
});

interface Case {
  readonly name: string;
  readonly lead: () => Promise<unknown>;
  readonly verb: keyof ComputeDriver;
  /** The final attachment and the announced events. */
  readonly ends: () => [string | null, string[]];
}

const CASES: readonly Case[] = [
  { name: 'attach', lead: () => attach(), verb: 'attach', ends: () => [`${server} /dev/vdb`, [ATTACHED()]] },
  {
    name: 'detach',
    lead: async () => {
      await attach();
      await world.runUntilIdle();
      await detach();
    },
    verb: 'detach',
    ends: () => [null, [ATTACHED(), 'volume.detached']],
  },
  {
    name: 'move',
    lead: async () => {
      await attach();
      await world.runUntilIdle();
      await detach();
      await attach(other);
    },
    verb: 'detach',
    ends: () => [`${other} /dev/vdb`, [ATTACHED(), 'volume.detached', ATTACHED(other)]],
  },
  {
    name: 'grow',
    lead: async () => {
      await attach();
      await updateVolume(world.service, actor, id, { size_gb: 15 });
    },
    verb: 'grow',
    ends: () => [`${server} /dev/vdb`, [ATTACHED()]],
  },
  {
    name: 'remove',
    lead: async () => {
      await attach();
      await world.runUntilIdle();
      await detach();
      await deleteVolume(world.service, actor, id);
    },
    verb: 'removeVolume',
    ends: () => [null, [ATTACHED(), 'volume.detached']],
  },
];

for (const { name, lead, verb, ends } of CASES) {
  describe(`the volume task to ${name}`, () => {
    it(`the volume task to ${name} has no further effect when it repeats or runs concurrently`, async () => {
      await lead();
      await Promise.all([ensure(), ensure()]);
      await ensure();
      const [where, announced] = ends();
      assert.deepEqual([await world.attachment(id), await world.recordedEvents(id)], [where, announced]);
      await world.runUntilIdle();
      assert.deepEqual([await world.attachment(id), await world.recordedEvents(id)], [where, announced]);
      await world.assertInvariants();
    });

    it(`the volume task to ${name} takes effect once despite kills and driver faults`, async () => {
      await lead();
      await assert.rejects(ensure(crashingService(world.service, verb)), /killed/);
      await fail(verb, 3);
      await world.assertInvariants();
      await world.runUntilIdle();
      const [where, announced] = ends();
      assert.deepEqual([await world.attachment(id), await world.recordedEvents(id)], [where, announced]);
      await world.assertInvariants();
    });
  });
}

describe('a driver that permanently refuses to attach', () => {
  const refusing = () =>
    mock.method(world.service.compute, 'attach', async () => {
      throw new ComputeError('refused', 'no slot is free');
    });

  it('a refused attachment leaves the volume detached and announces that', async () => {
    refusing();
    await attach();
    await world.runUntilIdle();
    const volume = await getVolume(world.service, actor, id);
    assert.deepEqual([volume.attached_to, volume.device], [null, null]);
    assert.deepEqual(await world.recordedEvents(id), ['volume.detached']);
    await world.assertInvariants();
  });

  it('a refused attachment does not detach a volume that was attached before', async () => {
    await attach();
    await world.runUntilIdle();
    refusing();
    await updateVolume(world.service, actor, id, { size_gb: 15 });
    await world.runUntilIdle();
    assert.equal((await getVolume(world.service, actor, id)).attached_to, server);
    assert.deepEqual(await world.recordedEvents(id), [ATTACHED()]);
  });
});

describe('a server that is destroyed', () => {
  let server: string;
  const attach = () => attachVolume(world.service, actor, id, { server });
  beforeEach(async () => {
    server = await world.server(actor, region);
  });
  const destroy = () =>
    world.db.transaction(async (tx) => {
      const now = world.clock.now();
      const serverId = parseId('server', server) ?? '';
      const row = await lockServer(tx, serverId);
      assert.equal(row?.status, 'running');
      await tx.run(`update servers set status = 'destroying' where id = $1`, [serverId]);
      await tx.run(
        `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
         values (gen_random_uuid(), $1, 'destroy', 'remove', $2, $2, $2)`,
        [serverId, now],
      );
      await detachServerVolumes(tx, serverId, now);
    });

  it('a destroyed server leaves its volumes detached, with their disk', async () => {
    await attach();
    await world.runUntilIdle();
    const used = await world.usedDisk(region);
    await destroy();
    assert.equal((await getVolume(world.service, actor, id)).attached_to, null);
    await world.runUntilIdle();
    assert.deepEqual(await world.recordedEvents(id), [ATTACHED(server), 'volume.detached']);
    assert.equal(await world.usedDisk(region), used - 10, "the server's own disk must be released");
    await attachVolume(world.service, actor, id, { server: other });
    await world.runUntilIdle();
    assert.equal(await world.attachment(id), `${other} /dev/vdb`);
    await world.assertInvariants();
  });

  it('a destroyed server never keeps a volume that is attached at the same time', async () => {
    const [attached] = await Promise.allSettled([attach(), destroy()]);
    await world.runUntilIdle();
    assert.equal((await getVolume(world.service, actor, id)).attached_to, null);
    assert.deepEqual(
      await world.recordedEvents(id),
      attached.status === 'fulfilled' ? [ATTACHED(server), 'volume.detached'] : [],
    );
    await world.assertInvariants();
  });
});

describe('concurrent attachments', () => {
  it('concurrent attachments of one volume attach it to one server', async () => {
    const both = await Promise.allSettled([attach(), attach(other), attach()]);
    const refused = both.filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 2);
    for (const { reason } of refused as PromiseRejectedResult[]) {
      assert.ok(reason instanceof Failure && reason.code === 'conflict_state', String(reason));
    }
    await world.runUntilIdle();
    assert.equal((await world.recordedEvents(id)).length, 1);
    await world.assertInvariants();
  });
});

describe('any sequence of requests, work, faults, and kills', () => {
  it('the driver matches the response after any sequence, and each change is announced once', async () => {
    const step = fc.constantFrom('attach', 'attach other', 'detach', 'work', 'kill', 'die', 'fail', 'again');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const previousCount = (await world.recordedEvents(id)).length;
        const answered: string[] = [];
        const request = async (work: Promise<{ attached_to: string | null; device: string | null }>) => {
          const { attached_to: to, device } = await work;
          answered.push(to ? `volume.attached ${to} ${device}` : 'volume.detached');
        };
        for (const name of steps) {
          const taken = { attach, detach, 'attach other': () => attach(other) } as const;
          if (name in taken) await request(taken[name as keyof typeof taken]()).catch(refusedOnly);
          if (name === 'work') await world.runDueTasks();
          if (name === 'fail') await fail('attach', 1);
          if (name === 'kill') await ensure(crashingService(world.service, 'detach')).catch(() => undefined);
          if (name === 'die') await ensure(crashingService(world.service, 'attach')).catch(() => undefined);
          if (name === 'again') await ensure().catch(() => undefined);
        }
        await world.runUntilIdle();
        assert.deepEqual((await world.recordedEvents(id)).slice(previousCount), answered);
        const { attached_to: to, device } = await getVolume(world.service, actor, id);
        assert.equal(await world.attachment(id), to && `${to} ${device}`);
        await world.assertInvariants();
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });
});

function refusedOnly(error: unknown): void {
  if (!(error instanceof Failure)) throw error;
}
