/** Volumes in a real Ceph cluster that two hosts share. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  type PeerListener,
  startPeerListener,
} from '../../../../../src/drivers/compute/host/peer-listener.ts';
import { checkSharedStorage } from '../../../../../src/drivers/compute/qemu/examine/shared-storage.ts';
import { QemuHost, volumeSerial } from '../../../../../src/drivers/compute/qemu/host.ts';
import { withQmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import { requireRecord, writeRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import { readVolume } from '../../../../../src/drivers/compute/qemu/storage/volume-record.ts';
import type { MachineSpec } from '../../../../../src/ports/compute.ts';
import { failsAs, machineSpec } from '../../compute-world.ts';
import { CephCluster, cephMissing } from '../support/ceph-cluster.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

const DEVICE = '/dev/vdb';
const CEPH = { skip: REAL_MACHINES.skip || (process.env.CI !== 'true' && cephMissing()) };

interface SharedHost extends QemuWorld {
  readonly machineId: string;
  readonly spec: MachineSpec;
  readonly address: string;
}

describe('volumes in a Ceph cluster', CEPH, () => {
  let cluster: CephCluster;
  let here: SharedHost;
  let there: SharedHost;
  const worlds: QemuWorld[] = [];
  const listeners: PeerListener[] = [];
  before(async () => {
    cluster = await CephCluster.start();
    // One after the other: two guests that boot at once take more than twice as long.
    here = await startHost('here');
    there = await startHost('there');
  });
  after(async () => {
    for (const world of worlds) await world.close();
    for (const listener of listeners) await listener.close();
    await cluster?.close();
  });

  async function startHost(name: string): Promise<SharedHost> {
    const transfers = { find: (id: string) => world.driver.transfers.find(id) };
    const listener = await startPeerListener({ listen: { host: '127.0.0.1', port: 0 }, transfers });
    listeners.push(listener);
    const peerAddress = `127.0.0.1:${listener.port}`;
    const world = await qemuWorld({ hosts: [name], ceph: cluster.options, peerAddress });
    worlds.push(world);
    const address = await cluster.link(world.net.router);
    const machineId = `on-${name}`;
    const spec = machineSpec({ id: machineId, host: name, ...world.machine });
    // Its guest need not boot: the tests read and write as its disk controller.
    await world.driver.ensure(spec);
    return { ...world, machineId, spec, address };
  }

  const attach = (host: SharedHost, id: string, sizeGb = 1) =>
    host.driver.attach(host.machineId, { id, sizeGb, device: DEVICE, shared: true });
  const power = (host: SharedHost, action: 'on' | 'off') => host.driver.power(host.machineId, action);
  /** Without a guest that cooperates, only a machine that is off releases a volume. */
  const detachOff = async (host: SharedHost, id: string) => {
    await power(host, 'off');
    for (const _ of ['once', 'again']) await host.driver.detach(id);
    await power(host, 'on');
  };
  /** Carries out a command of qemu-io with the volume's device, and returns what QEMU prints. */
  const io = async (host: SharedHost, id: string, command: string) => {
    const log = host.host.layout.machine(host.machineId, 'qemu.log');
    const before = (await readFile(log, 'utf8')).length;
    const device = `/machine/peripheral/dev-vol-${volumeSerial(id)}/virtio-backend`;
    const line = `qemu-io -d ${device} "${command}"`;
    const answer = await withQmp(host.host, host.machineId, async (qmp) =>
      qmp?.execute<string>('human-monitor-command', { 'command-line': line }),
    );
    return `${answer ?? 'off'}${(await readFile(log, 'utf8')).slice(before)}`;
  };
  const write = async (host: SharedHost, id: string, byte: number) => {
    const printed = await io(host, id, `write -P ${byte} 0 4k`);
    if (!printed.includes('wrote 4096')) throw new Error(printed);
  };
  const hasContent = async (host: SharedHost, id: string, byte: number) => {
    const printed = await io(host, id, `read -P ${byte} 0 4k`);
    assert.match(printed, /read 4096/);
    assert.doesNotMatch(printed, /verification failed/);
  };

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
    // Nothing in the guest answers, so its install is not noticed.
    const record = await requireRecord(here.host.layout, spec.id);
    await writeRecord(here.host.layout, { ...record, installingSince: null });
    const volumes = [{ id, sizeGb: 1, device: DEVICE, shared: true as const }];
    const guest: SharedHost = { ...there, machineId: spec.id };
    const send = async (from: SharedHost, to: SharedHost) => {
      const names = { from: from.host.options.hosts[0] ?? '', to: to.host.options.hosts[0] ?? '' };
      const move = { id: randomUUID(), machineId: spec.id, key: randomBytes(32), ...names };
      const endpoint = await to.driver.moves.receive(move, { spec: { ...spec, host: names.to }, volumes });
      for (;;) {
        const { state, message } = await from.driver.moves.send(move, endpoint);
        if (state === 'copying') continue;
        assert.equal(state, 'sent', message ?? '');
        return move;
      }
    };
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
