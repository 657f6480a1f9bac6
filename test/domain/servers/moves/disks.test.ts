import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { drainHost } from '../../../../src/domain/inventory/hosts.ts';
import { loseHost } from '../../../../src/domain/inventory/lost-hosts.ts';
import { moveEverythingOff } from '../../../../src/domain/servers/moves/queue.ts';
import { getSnapshot } from '../../../../src/domain/snapshots/read.ts';
import { attachVolume } from '../../../../src/domain/volumes/attach.ts';
import { deleteVolume, updateVolume } from '../../../../src/domain/volumes/change.ts';
import { getVolume } from '../../../../src/domain/volumes/read.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { countContents } from '../../../../src/store/inventory/placement.ts';
import { listMoves } from '../../../../src/store/servers/moves.ts';
import type { TestService } from '../../../support/test-service.ts';
import type { RegionWorld } from '../region-world.ts';
import { DiskWorld } from './disk-world.ts';

const EMPTY = { servers: 0n, volumes: 0n, snapshots: 0n };

let disks: DiskWorld;
let region: RegionWorld;
let world: TestService;

before(async () => {
  disks = await DiskWorld.open();
  ({ region, world } = disks);
});
after(() => world.close());
beforeEach(() => region.reset([3, 3, 3]));
afterEach(() => world.assertInvariants());

async function conflicts(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => error instanceof Failure && error.code === 'conflict_state');
}

describe('a drained host', () => {
  it('loses its detached volumes and its snapshots, and their customers see no difference', async () => {
    const { from, volume, volumeId, snapshot, snapshotId, server } = await disks.makeDisks();
    const seen = async () => [
      await getVolume(world.service, region.actor, volume),
      await getSnapshot(world.service, region.actor, snapshot),
      await region.events(),
    ];
    const before = await seen();
    const content = (await world.simulator.snapshots()).find(({ id }) => id === snapshotId)?.installed;
    assert.deepEqual(await countContents(world.db, from), { servers: 1n, volumes: 1n, snapshots: 1n });
    await moveEverythingOff(world.service, from, 2);
    await disks.workUntil(() => disks.isQuiet());
    assert.deepEqual(await countContents(world.db, from), EMPTY);
    assert.notEqual(await disks.oneHostOf('volume', volumeId), from);
    assert.deepEqual(await seen(), before);
    assert.deepEqual(await disks.sidesOf(volumeId), ['gone has']);
    assert.deepEqual(await disks.sidesOf(snapshotId), ['gone has']);
    const moved = (await world.simulator.snapshots()).find(({ id }) => id === snapshotId);
    assert.deepEqual(moved?.installed, content);
    const machine = await region.machine(parseId('server', server) ?? '');
    assert.equal(moved?.host, machine?.host, 'a snapshot follows its server');
  });

  it('has its volumes where their customer has servers, and they can be attached there', async () => {
    const { from, server, volume, volumeId } = await disks.makeDisks();
    await moveEverythingOff(world.service, from, 1);
    await disks.workUntil(() => disks.isQuiet());
    const host = await disks.oneHostOf('volume', volumeId);
    assert.equal((await region.machine(parseId('server', server) ?? ''))?.host, host);
    await attachVolume(world.service, region.actor, volume, { server });
    await updateVolume(world.service, region.actor, volume, { size_gb: 12 });
    await world.runUntilIdle();
    const seen = (await world.simulator.volumes()).find(({ id }) => id === volumeId);
    assert.deepEqual([seen?.sizeGb, seen?.host], [12, host]);
  });

  it('also loses volumes and snapshots whose server is deleted', async () => {
    const { from, volumeId, snapshotId } = await disks.makeLoneDisks();
    await moveEverythingOff(world.service, from, 2);
    await disks.workUntil(() => disks.isQuiet());
    assert.deepEqual(await countContents(world.db, from), EMPTY);
    assert.notEqual(await disks.oneHostOf('volume', volumeId), from);
    assert.notEqual(await disks.oneHostOf('snapshot', snapshotId), from);
  });

  it('keeps what no other host has room for, and says so', async () => {
    const { from, volumeId } = await disks.makeLoneDisks();
    for (const name of region.hosts) if (name !== from) await drainHost(world.service, name, true);
    await moveEverythingOff(world.service, from, 2);
    await region.runDueWork();
    assert.equal((await disks.moveOf(volumeId))?.last_fault, 'no other host has room for it');
    assert.equal(await disks.oneHostOf('volume', volumeId), from);
    for (const name of region.hosts) await drainHost(world.service, name, false);
    await world.runUntilIdle();
    assert.equal(await disks.moveOf(volumeId), undefined);
    assert.equal(await disks.oneHostOf('volume', volumeId), from);
  });
});

describe('a volume that moves', () => {
  it('is neither attached nor enlarged until it has arrived', async () => {
    const { service } = world;
    const { from, volume, volumeId } = await disks.makeLoneDisks();
    const { shown: server } = await region.running();
    await disks.startCopy(from, volumeId);
    await conflicts(attachVolume(service, region.actor, volume, { server }));
    await conflicts(updateVolume(service, region.actor, volume, { size_gb: 20 }));
    await updateVolume(service, region.actor, volume, { name: 'renamed' });
    await disks.workUntil(() => disks.isQuiet());
    await updateVolume(service, region.actor, volume, { size_gb: 20 });
    await world.runUntilIdle();
    assert.notEqual(await disks.oneHostOf('volume', volumeId), from);
  });

  it('is deleted on both hosts if its customer deletes it meanwhile', async () => {
    const { from, volume, volumeId } = await disks.makeLoneDisks();
    await disks.startCopy(from, volumeId);
    await deleteVolume(world.service, region.actor, volume);
    await disks.workUntil(() => disks.isQuiet());
    await world.runUntilIdle();
    assert.deepEqual(await disks.sidesOf(volumeId), ['has gone']);
    assert.deepEqual(await disks.hostsOf('volume', volumeId), [undefined, undefined]);
  });

  it('is deleted if its customer deletes it once the target has it', async () => {
    const { from, volume, volumeId } = await disks.makeLoneDisks();
    await disks.failing('takeOver', 1_000);
    await moveEverythingOff(world.service, from, 2);
    await disks.workUntil(async () => (await disks.moveOf(volumeId))?.state === 'switched');
    await deleteVolume(world.service, region.actor, volume);
    await region.runDueWork();
    await disks.failing('takeOver', 0);
    await disks.workUntil(() => disks.isQuiet());
    await world.runUntilIdle();
    assert.deepEqual(await disks.sidesOf(volumeId), ['gone has']);
    assert.deepEqual(await disks.hostsOf('volume', volumeId), [undefined, undefined]);
  });

  it('is copied to another host if a copy fails, and ends with one of them', async () => {
    for (const [call, times] of [
      ['receiveDisk', 1],
      ['send', 1],
      ['takeOver', 3],
      ['forget', 3],
    ] as const) {
      await region.reset([3, 3, 3]);
      const { from, volumeId, snapshotId } = await disks.makeLoneDisks();
      await disks.failing(call, times);
      await moveEverythingOff(world.service, from, 1);
      await disks.workUntil(() => disks.isQuiet());
      assert.deepEqual(await countContents(world.db, from), EMPTY, call);
      for (const [kind, id] of [
        ['volume', volumeId],
        ['snapshot', snapshotId],
      ] as const) {
        assert.notEqual(await disks.oneHostOf(kind, id), from);
        const sides = await disks.sidesOf(id);
        assert.equal(sides.filter((each) => each === 'gone has').length, 1);
        assert.ok(
          sides.every((each) => each.includes('gone')),
          `${call}: a copy is left over: ${sides}`,
        );
      }
      await world.assertInvariants();
    }
  });

  it('stays, with its source unchanged, while the call that keeps it there fails', async () => {
    const { from, volumeId } = await disks.makeLoneDisks();
    await disks.failing('send', 1);
    await disks.failing('keep', 3);
    await moveEverythingOff(world.service, from, 1);
    const moves = async () => await listMoves(world.db, { host: from, limit: 10 });
    await disks.workUntil(async () => (await moves()).some(({ attempts }) => attempts === 1));
    const failed = (await moves()).find(({ attempts }) => attempts === 1);
    assert.ok(failed && failed.kind !== 'server');
    assert.equal(await disks.oneHostOf(failed.kind, failed.server_id), from);
    await disks.workUntil(() => disks.isQuiet());
    assert.notEqual(await disks.oneHostOf('volume', volumeId), from);
  });

  it('goes to another host if its target is away for minutes', async () => {
    const { from, volumeId } = await disks.makeLoneDisks();
    await disks.startCopy(from, volumeId);
    const to = (await disks.moveOf(volumeId))?.to_name ?? assert.fail('no target');
    await world.simulator.setHostDown(to, true);
    await disks.workUntil(async () => (await disks.moveOf(volumeId))?.state !== 'copying');
    assert.equal((await disks.moveOf(volumeId))?.state, 'kept');
    await world.simulator.setHostDown(to, false);
    await disks.workUntil(() => disks.isQuiet());
    assert.notEqual(await disks.oneHostOf('volume', volumeId), from);
  });

  it('stays on its source if the target is lost', async () => {
    const { from, volumeId } = await disks.makeLoneDisks();
    await disks.startCopy(from, volumeId);
    const to = (await disks.moveOf(volumeId))?.to_name ?? assert.fail('no target');
    await world.simulator.loseHost(to);
    await loseHost(world.service, to, 'refund');
    await disks.workUntil(() => disks.isQuiet());
    const host = await disks.oneHostOf('volume', volumeId);
    assert.ok(host !== to && host !== from);
  });

  it('returns to its source if the target is lost after the switch', async () => {
    const { from, volume, volumeId } = await disks.makeLoneDisks();
    await disks.failing('takeOver', 1_000);
    await moveEverythingOff(world.service, from, 2);
    await disks.workUntil(async () => (await disks.moveOf(volumeId))?.state === 'switched');
    const to = (await disks.moveOf(volumeId))?.to_name ?? assert.fail('no target');
    await world.simulator.loseHost(to);
    await loseHost(world.service, to, 'refund');
    assert.equal((await disks.moveOf(volumeId))?.state, 'kept');
    await disks.failing('takeOver', 0);
    await disks.workUntil(() => disks.isQuiet());
    const host = await disks.oneHostOf('volume', volumeId);
    assert.ok(host !== to && host !== from);
    assert.equal((await getVolume(world.service, region.actor, volume)).lost_at, null);
    await updateVolume(world.service, region.actor, volume, { size_gb: 20 });
    await world.runUntilIdle();
  });

  it('needs its target only once that has it: the source may be silent then', async () => {
    const { from, volume, volumeId } = await disks.makeLoneDisks();
    await disks.failing('forget', 1_000);
    await moveEverythingOff(world.service, from, 2);
    await disks.workUntil(async () => (await disks.moveOf(volumeId))?.state === 'moved');
    await updateVolume(world.service, region.actor, volume, { size_gb: 20 });
    await region.runDueWork();
    assert.notEqual(await disks.oneHostOf('volume', volumeId), from);
    await disks.failing('forget', 0);
    await disks.workUntil(() => disks.isQuiet());
    assert.deepEqual(await disks.sidesOf(volumeId), ['gone has']);
  });
});
