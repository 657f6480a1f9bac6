/** Volumes in a real Ceph cluster that two hosts share. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkSharedStorage } from '../../../../../src/drivers/compute/qemu/examine/shared-storage.ts';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { readVolume } from '../../../../../src/drivers/compute/qemu/storage/volume-record.ts';
import type { MachineSpec } from '../../../../../src/ports/compute.ts';
import { failsAs } from '../../compute-world.ts';
import type { CephCluster } from '../support/ceph-cluster.ts';
import * as shared from '../support/shared-world.ts';
import { createMachine, endInstall, SharedWorld } from '../support/shared-world.ts';

const DEVICE = '/dev/vdb';

interface VolumeHost extends shared.SharedHost {
  readonly machineId: string;
  readonly spec: MachineSpec;
}

describe('volumes in a Ceph cluster', shared.CEPH, () => {
  let world: SharedWorld;
  let cluster: CephCluster;
  let here: VolumeHost;
  let there: VolumeHost;
  before(async () => {
    world = await SharedWorld.start();
    cluster = world.cluster;
    // One after the other: two guests that boot at once take more than twice as long.
    here = await startHost('here');
    there = await startHost('there');
  });
  after(async () => await world?.close());

  async function startHost(name: string): Promise<VolumeHost> {
    const host = await world.startHost(name);
    const spec = await createMachine(host, { id: `on-${name}` });
    return { ...host, machineId: spec.id, spec };
  }

  const attach = (host: VolumeHost, id: string, sizeGb = 1) =>
    host.driver.attach(host.machineId, { id, sizeGb, device: DEVICE, shared: true });
  const power = (host: VolumeHost, action: 'on' | 'off') => host.driver.power(host.machineId, action);
  /** Without a guest that cooperates, only a machine that is off releases a volume. */
  const detachOff = async (host: VolumeHost, id: string) => {
    await power(host, 'off');
    for (const _ of ['once', 'again']) await host.driver.detach(id);
    await power(host, 'on');
  };
  const write = (host: VolumeHost, id: string, byte: number) =>
    shared.write(host, { machineId: host.machineId, volume: id }, byte);
  const hasContent = (host: VolumeHost, id: string, byte: number) =>
    shared.hasContent(host, { machineId: host.machineId, volume: id }, byte);

  it('a shared volume grows while it is attached and keeps its data on another host', async () => {
    const id = 'moving';
    for (const _ of ['once', 'again']) await attach(here, id);
    await write(here, id, 7);
    for (const sizeGb of [2, 2, 1]) await here.driver.grow(id, sizeGb);
    assert.deepEqual(await here.attached(here.machineId), [{ id, sizeGb: 2, device: DEVICE }]);
    await detachOff(here, id);
    await there.driver.grow(id, 3);
    await attach(there, id);
    assert.deepEqual(await there.attached(there.machineId), [{ id, sizeGb: 3, device: DEVICE }]);
    await hasContent(there, id, 7);
    assert.equal(await readVolume(here.host.layout, id), undefined);
    await detachOff(there, id);
    await here.driver.removeVolume(id);
  });

  it('a shared volume is attached on one host at a time, whether its machine is on or off', async () => {
    const id = 'claimed';
    await attach(here, id);
    await power(here, 'off');
    await failsAs('transient', attach(there, id));
    await failsAs('transient', there.driver.grow(id, 5));
    await failsAs('transient', there.driver.removeVolume(id));
    // Detaching is about one's own attachment.
    await there.driver.detach(id);
    await failsAs('transient', attach(there, id));
    await power(here, 'on');
    await write(here, id, 3);
    await power(here, 'off');
    for (const _ of ['once', 'again']) await here.driver.removeVolume(id);
    await power(here, 'on');
    await attach(there, id);
    await hasContent(there, id, 0);
    await detachOff(there, id);
    await there.driver.removeVolume(id);
  });

  it('a shared volume and its claim move with its machine, whether that runs or not', async () => {
    const id = 'follows';
    await attach(here, id);
    await write(here, id, 1);
    const { spec } = here;
    await endInstall(here, spec.id);
    const volumes = [{ id, sizeGb: 1, device: DEVICE, shared: true as const }];
    const guest: VolumeHost = { ...there, machineId: spec.id };
    const send = (from: VolumeHost, to: VolumeHost) => shared.send({ from, to }, spec, volumes);
    // A machine that is kept has its volume as before.
    const kept = await send(here, guest);
    await failsAs('transient', there.driver.grow(id, 2));
    await here.driver.moves.keep(kept);
    await there.driver.moves.forget(kept, 'to');
    await write(here, id, 2);
    const live = await send(here, guest);
    for (const _ of ['once', 'again']) await there.driver.moves.takeOver(live);
    for (const _ of ['once', 'again']) await here.driver.moves.forget(live, 'from');
    await hasContent(guest, id, 2);
    await write(guest, id, 3);
    assert.equal((await readVolume(there.host.layout, id))?.shared, true);
    assert.equal(await readVolume(here.host.layout, id), undefined);
    await failsAs('transient', here.driver.grow(id, 2));
    await there.driver.grow(id, 2);
    await power(guest, 'off');
    volumes.splice(0, 1, { id, sizeGb: 2, device: DEVICE, shared: true });
    const stopped = await send(guest, here);
    await here.driver.moves.takeOver(stopped);
    await there.driver.moves.forget(stopped, 'from');
    await failsAs('transient', there.driver.grow(id, 3));
    await power(here, 'on');
    await hasContent(here, id, 3);
    await detachOff(here, id);
    await here.driver.removeVolume(id);
  });

  it('an image that vanished is not replaced by an empty one', async () => {
    const id = 'vanished';
    await power(here, 'off');
    await attach(here, id);
    await here.driver.detach(id);
    await cluster.admin('rbd', ['rm', '--no-progress', `volumes/skerry-${id}`]);
    await failsAs('host', attach(here, id));
    await here.driver.removeVolume(id);
    await power(here, 'on');
  });

  it('the key is in no command line, no log, and no file of the machine', async () => {
    await attach(here, 'secret');
    await write(here, 'secret', 5);
    const key = (await readFile(cluster.options.keyFile, 'utf8')).trim();
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    const folder = here.host.layout.machine(here.machineId);
    const names = (await readdir(folder)).filter((name) => /\.(json|log)$/.test(name));
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    assert.ok(lines.some((line) => line.includes(folder)) && names.includes('qemu.log'));
    assert.deepEqual(
      [...lines, ...texts].filter((text) => text.includes(key)),
      [],
    );
    await detachOff(here, 'secret');
    await here.driver.removeVolume('secret');
  });

  it('the examination reports a usable cluster, a wrong pool, and a key that others can read', async () => {
    const findings = await checkSharedStorage(there.host);
    assert.deepEqual(
      findings.filter(({ level }) => level === 'fail'),
      [],
    );
    const wrong = new QemuHost({ ...there.host.options, ceph: { ...cluster.options, pool: 'none' } });
    assert.match((await checkSharedStorage(wrong)).map(({ message }) => message).join(), /pool none/);
    const keyFile = join(there.host.options.dir, 'open-key');
    await writeFile(keyFile, await readFile(cluster.options.keyFile), { mode: 0o644 });
    const open = new QemuHost({ ...there.host.options, ceph: { ...cluster.options, keyFile } });
    assert.match((await checkSharedStorage(open)).map(({ message }) => message).join(), /chmod 600/);
  });

  // It comes last: a fenced host stays fenced.
  it('a lost host is fenced: its guest can write no more, and another host gets the volume', async () => {
    const id = 'seized';
    await attach(here, id);
    await write(here, id, 1);
    for (const _ of ['once', 'again']) await there.driver.seizeVolume?.(id, 'there');
    await assert.rejects(write(here, id, 2), /write failed/);
    await attach(there, id);
    await hasContent(there, id, 1);
    await write(there, id, 9);
    await assert.rejects(write(here, id, 2), /write failed/);
    // Its own repairs when it is back change nothing either.
    await power(here, 'off');
    await power(here, 'on');
    assert.deepEqual(await here.attached(here.machineId), []);
    await failsAs('transient', attach(here, 'other'));
    await hasContent(there, id, 9);
    const fenced = await cluster.admin('ceph', ['osd', 'blocklist', 'ls']);
    assert.ok(fenced.includes(`${here.address}:0/0`));
    assert.ok(!fenced.includes(`${there.address}:0/0`));
  });
});
