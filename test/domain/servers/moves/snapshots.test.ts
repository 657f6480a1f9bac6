import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { moveEverythingOff, moveServer } from '../../../../src/domain/servers/moves/queue.ts';
import { restoreServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import { deleteSnapshot } from '../../../../src/domain/snapshots/change.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { countContents } from '../../../../src/store/inventory/placement.ts';
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

describe('a snapshot that moves', () => {
  it('is deleted on both hosts if its customer deletes it meanwhile', async () => {
    const { from, snapshot, snapshotId } = await disks.makeLoneDisks();
    await disks.startCopy(from, snapshotId);
    await deleteSnapshot(world.service, region.actor, snapshot);
    await disks.workUntil(() => disks.isQuiet());
    await world.runUntilIdle();
    assert.deepEqual(await disks.sidesOf(snapshotId), ['has gone']);
    assert.deepEqual(await disks.hostsOf('snapshot', snapshotId), [undefined, undefined]);
  });

  it('waits until the server is restored from it', async () => {
    const { from, server, snapshot, snapshotId } = await disks.makeDisks();
    await restoreServer(world.service, region.actor, server, snapshot);
    await moveEverythingOff(world.service, from, 2);
    await disks.workUntil(() => disks.isQuiet());
    assert.deepEqual(await countContents(world.db, from), EMPTY);
    const machine = await region.machine(parseId('server', server) ?? '');
    assert.deepEqual([machine?.state, machine?.generation], ['running', 2]);
    assert.equal(await disks.oneHostOf('snapshot', snapshotId), machine?.host);
  });

  it('follows its server when only that moves', async () => {
    const { from, server, snapshotId, volumeId } = await disks.makeDisks();
    await moveServer(world.service, server, null);
    await disks.workUntil(() => disks.isQuiet());
    const machine = await region.machine(parseId('server', server) ?? '');
    assert.notEqual(machine?.host, from);
    assert.equal(await disks.oneHostOf('snapshot', snapshotId), machine?.host);
    assert.equal(await disks.oneHostOf('volume', volumeId), from);
  });
});
