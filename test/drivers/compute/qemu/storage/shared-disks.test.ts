/** Disks of machines in a real Ceph cluster that two hosts share. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { releaseClaim } from '../../../../../src/drivers/compute/qemu/storage/claims.ts';
import { diskClaim } from '../../../../../src/drivers/compute/qemu/storage/shared-disks.ts';
import type { MachineSpec } from '../../../../../src/ports/compute.ts';
import { failsAs } from '../../compute-world.ts';
import {
  CEPH,
  createMachine,
  endInstall,
  hasContent,
  type SharedHost,
  SharedWorld,
  send,
  write,
} from '../support/shared-world.ts';

/** Beyond everything that the tiny guest has on its disk. */
const FREE = '900M';

describe('disks in a Ceph cluster', CEPH, () => {
  let world: SharedWorld;
  let here: SharedHost;
  let there: SharedHost;
  before(async () => {
    world = await SharedWorld.start();
    here = await world.startHost('here');
    there = await world.startHost('there');
  });
  after(async () => await world?.close());

  const images = async () => {
    const text = await world.cluster.admin('rbd', ['ls', '--format', 'json', '--pool', 'volumes']);
    return (JSON.parse(text) as string[]).filter((name) => !name.startsWith('skerry-base-'));
  };
  const create = async (id: string, wanted: Partial<MachineSpec> = {}) => {
    const spec = { id, diskGb: 1, sharedDisk: true as const, ...wanted };
    for (let calls = 0; ; calls++) {
      try {
        return await createMachine(here, spec);
      } catch (error) {
        // The first disk of an image waits for its copy.
        if ((error as { fault?: string }).fault !== 'waiting' || calls > 50) throw error;
      }
    }
  };
  const snapshot = async (host: SharedHost, machineId: string, id: string) => {
    let sizeGb = 0;
    await host.eventually(async () => {
      const seen = await host.driver.snapshot(machineId, id);
      assert.notEqual(seen.state, 'failed');
      sizeGb = seen.sizeGb;
      return seen.state === 'ready';
    });
    return sizeGb;
  };
  const until = (host: SharedHost, id: string, state: string) =>
    host.eventually(async () => (await host.driver.observe([id]))[0]?.state === state);

  it('a machine boots from a shared disk, keeps its data, and leaves nothing', async () => {
    const spec = await create('boots');
    await here.driver.ensure(spec);
    await until(here, spec.id, 'running');
    assert.deepEqual(
      (await readdir(here.host.layout.machine(spec.id))).filter((name) => name.startsWith('disk-')),
      [],
    );
    const device = { machineId: spec.id };
    await here.ssh(spec.id, 'echo kept > /data/kept; sync');
    await write(here, device, 7, FREE);
    await here.driver.power(spec.id, 'off');
    await here.driver.rescue(spec.id, { passwordHash: '$6$a$b' });
    await hasContent(here, device, 7, FREE);
    await here.driver.power(spec.id, 'reset');
    assert.equal(await here.sshWithRetry(spec.id, 'cat /data/kept'), 'kept\n');
    await hasContent(here, device, 7, FREE);
    const next = { ...spec, generation: 2, diskGb: 2 };
    for (const _ of ['once', 'again']) await here.driver.rebuild(next);
    assert.deepEqual((await images()).sort(), ['skerry-disk-boots-1', 'skerry-disk-boots-2']);
    await until(here, spec.id, 'running');
    await hasContent(here, device, 0, FREE);
    assert.deepEqual(await images(), ['skerry-disk-boots-2']);
    for (const _ of ['once', 'again']) await here.driver.remove(spec.id);
    assert.deepEqual(await images(), []);
    await failsAs('refused', here.driver.power(spec.id, 'on'));
  });

  it('leftovers of killed calls are neither used nor kept', async () => {
    const spec = await create('killed');
    await endInstall(here, spec.id);
    await world.cluster.admin('rbd', ['create', '--size', '1G', 'volumes/skerry-disk-killed-2']);
    await world.cluster.admin('rbd', ['create', '--size', '1G', 'volumes/skerry-disk-killed-3-new']);
    await here.driver.rebuild({ ...spec, generation: 2 });
    const device = { machineId: spec.id };
    // That of an image, and not the empty leftover.
    await assert.rejects(hasContent(here, device, 0));
    assert.deepEqual((await images()).sort(), ['skerry-disk-killed-1', 'skerry-disk-killed-2']);
    await here.driver.power(spec.id, 'off');
    await world.cluster.admin('rbd', ['rename', 'volumes/skerry-disk-killed-2', 'volumes/away']);
    await failsAs('host', here.driver.power(spec.id, 'on'));
    await world.cluster.admin('rbd', ['rename', 'volumes/away', 'volumes/skerry-disk-killed-2']);
    await here.driver.power(spec.id, 'on');
    await here.driver.remove(spec.id);
    assert.deepEqual(await images(), []);
  });

  it('a snapshot has the disk of one moment, outlives the machine, and is restored on any host', async () => {
    const spec = await create('source');
    const device = { machineId: spec.id };
    await failsAs('refused', here.driver.snapshot(spec.id, 'early'));
    await endInstall(here, spec.id);
    await write(here, device, 1, FREE);
    const first = await here.driver.snapshot(spec.id, 'online');
    await write(here, device, 2, FREE);
    assert.equal(first.state === 'failed', false);
    assert.ok((await snapshot(here, spec.id, 'online')) > 0);
    await here.driver.power(spec.id, 'off');
    await snapshot(here, spec.id, 'offline');
    assert.deepEqual((await images()).sort(), [
      'skerry-disk-source-1',
      'skerry-snapshot-offline',
      'skerry-snapshot-online',
    ]);
    const restored = { ...spec, generation: 2, diskGb: 2 };
    await here.eventually(async () => {
      await here.driver.restore(restored, 'online');
      return true;
    });
    await hasContent(here, device, 1, FREE);
    await endInstall(here, spec.id);
    await here.driver.remove(spec.id);
    const other = await createMachine(there, { id: 'other', diskGb: 1, sharedDisk: true });
    await endInstall(there, other.id);
    await failsAs('refused', there.driver.restore({ ...other, generation: 2 }, 'none'));
    // A call was killed when the copy was complete, and a start deleted it.
    await writeFile(there.host.layout.diskCopy(other.id, 2, 'offline'), '');
    await failsAs('transient', there.driver.restore({ ...other, generation: 2 }, 'offline'));
    await there.eventually(async () => {
      await there.driver.restore({ ...other, generation: 2 }, 'offline');
      return true;
    });
    await hasContent(there, { machineId: other.id }, 2, FREE);
    await there.driver.remove(other.id);
    for (const id of ['online', 'offline'])
      for (const host of [there, here]) await host.driver.removeSnapshot(id);
    assert.deepEqual(await images(), []);
  });

  it('a machine moves with its shared disk, whether it runs or not', async () => {
    const spec = await create('moves');
    const device = { machineId: spec.id };
    await endInstall(here, spec.id);
    await write(here, device, 1, FREE);
    const kept = await send({ from: here, to: there }, spec);
    await here.driver.moves.keep(kept);
    await there.driver.moves.forget(kept, 'to');
    await write(here, device, 2, FREE);
    const live = await send({ from: here, to: there }, spec);
    for (const _ of ['once', 'again']) await there.driver.moves.takeOver(live);
    for (const _ of ['once', 'again']) await here.driver.moves.forget(live, 'from');
    await hasContent(there, device, 2, FREE);
    await write(there, device, 3, FREE);
    assert.equal((await there.driver.observe([spec.id]))[0]?.state, 'running');
    await there.driver.power(spec.id, 'off');
    const stopped = await send({ from: there, to: here }, spec);
    await here.driver.moves.takeOver(stopped);
    await there.driver.moves.forget(stopped, 'from');
    assert.deepEqual(await images(), ['skerry-disk-moves-1']);
    await here.driver.power(spec.id, 'on');
    await hasContent(here, device, 3, FREE);
    await here.driver.remove(spec.id);
    assert.deepEqual(await images(), []);
  });

  // It comes last: a fenced host stays fenced.
  it('the machine of a lost host runs elsewhere with its disk, and that host can write no more', async () => {
    const spec = await create('lost', { sshKeys: [here.guestKey, there.guestKey] });
    const removed = await create('removed');
    const device = { machineId: spec.id };
    await until(here, spec.id, 'running');
    await here.ssh(spec.id, 'echo kept > /data/kept; sync');
    await write(here, device, 5, FREE);
    const next = { ...spec, host: there.name, generation: 2 };
    const revive = there.driver.revive ?? assert.fail('no shared storage');
    const seize = there.driver.seizeDisk ?? assert.fail('no shared storage');
    await failsAs('transient', revive(next));
    // As after a move to the lost host, which ran the machine before the claim followed.
    await releaseClaim(here.host, diskClaim(spec.id));
    for (const _ of ['once', 'again']) await seize(spec.id, there.name);
    await assert.rejects(write(here, device, 6, FREE), /write failed/);
    for (const _ of ['once', 'again']) await revive(next);
    await hasContent(there, device, 5, FREE);
    assert.equal(await there.sshWithRetry(spec.id, 'cat /data/kept'), 'kept\n');
    await until(there, spec.id, 'running');
    await here.driver.power(spec.id, 'off').catch(() => undefined);
    await failsAs('transient', here.driver.power(spec.id, 'on'));
    await hasContent(there, device, 5, FREE);
    await seize(removed.id, there.name);
    await there.driver.remove(removed.id);
    assert.deepEqual(await images(), ['skerry-disk-lost-2']);
    await there.driver.remove(spec.id);
    assert.deepEqual(await images(), []);
  });
});
