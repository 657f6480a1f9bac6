/** Shared volumes: they use no host's disk, and any server of their region may attach them. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { attachVolume, detachVolume } from '../../../src/domain/volumes/attach.ts';
import { deleteVolume, updateVolume } from '../../../src/domain/volumes/change.ts';
import { type VolumeWorld, volumeWorld } from './volume-world.ts';

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
  await world.deleteVolumes(actor);
});

const attach = (to = server) => attachVolume(world.service, actor, id, { server: to });
const detach = () => detachVolume(world.service, actor, id);

describe('a region whose hosts share storage for volumes', () => {
  it('has volumes that use no disk of a host and attach to a server on another one', async () => {
    const shared = await world.region([5, 5]);
    await world.db.run(`update regions set volume_storage = 'shared' where id = $1`, [shared]);
    const [one, two] = [await world.server(actor, shared), await world.server(actor, shared)];
    id = await world.volume(actor, shared);
    const before = await world.usedDisk(shared);
    const attaching = mock.method(world.service.compute, 'attach');
    for (const to of [one, two]) {
      await attach(to);
      await world.runUntilIdle();
      assert.equal(await world.attachment(id), `${to} /dev/vdb`);
      assert.equal(await world.usedDisk(shared), before);
      await updateVolume(world.service, actor, id, { size_gb: to === one ? 2_000 : 3_000 });
      await world.runUntilIdle();
      await detach();
      await world.runUntilIdle();
    }
    assert.ok(attaching.mock.calls.every((call) => call.arguments[1].shared === true));
    await world.assertInvariants();
    await deleteVolume(world.service, actor, id);
    await world.runUntilIdle();
    assert.equal(await world.usedDisk(shared), before);
  });

  it('keeps the volumes that it had before on the disk of their host', async () => {
    await attach();
    await world.runUntilIdle();
    await world.db.run(`update regions set volume_storage = 'shared' where id = $1`, [region]);
    const attaching = mock.method(world.service.compute, 'attach');
    await detach();
    await attach(other);
    await world.runUntilIdle();
    assert.ok(attaching.mock.calls.every((call) => call.arguments[1].shared === undefined));
    await world.db.run(`update regions set volume_storage = 'local' where id = $1`, [region]);
  });
});
