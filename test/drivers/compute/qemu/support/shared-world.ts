/** Hosts of real machines that share a real Ceph cluster. Tests read and write as a disk controller. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  type PeerListener,
  startPeerListener,
} from '../../../../../src/drivers/compute/host/peer-listener.ts';
import { volumeSerial } from '../../../../../src/drivers/compute/qemu/host.ts';
import { withQmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import { requireRecord, writeRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import type { MachineSpec, VolumeSpec } from '../../../../../src/ports/compute.ts';
import type { Move } from '../../../../../src/ports/moves.ts';
import { machineSpec } from '../../compute-world.ts';
import { CephCluster, cephMissing } from './ceph-cluster.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from './qemu-world.ts';

/** For tests with a cluster: `describe(name, CEPH, …)`. */
export const CEPH = { skip: REAL_MACHINES.skip || (process.env.CI !== 'true' && cephMissing()) };

export interface SharedHost extends QemuWorld {
  readonly name: string;
  /** On the cluster's network. */
  readonly address: string;
}

export class SharedWorld {
  readonly cluster: CephCluster;
  readonly #worlds: QemuWorld[] = [];
  readonly #listeners: PeerListener[] = [];

  private constructor(cluster: CephCluster) {
    this.cluster = cluster;
  }

  static async start(): Promise<SharedWorld> {
    return new SharedWorld(await CephCluster.start());
  }

  async startHost(name: string): Promise<SharedHost> {
    const transfers = { find: (id: string) => world.driver.transfers.find(id) };
    const listener = await startPeerListener({ listen: { host: '127.0.0.1', port: 0 }, transfers });
    this.#listeners.push(listener);
    const peerAddress = `127.0.0.1:${listener.port}`;
    const world = await qemuWorld({ hosts: [name], ceph: this.cluster.options, peerAddress });
    this.#worlds.push(world);
    return { ...world, name, address: await this.cluster.link(world.net.router) };
  }

  async close(): Promise<void> {
    for (const world of this.#worlds) await world.close();
    for (const listener of this.#listeners) await listener.close();
    await this.cluster.close();
  }
}

/** Creates a machine on the host. Its guest need not boot. */
export async function createMachine(
  host: SharedHost,
  wanted: Pick<MachineSpec, 'id'> & Partial<MachineSpec>,
): Promise<MachineSpec> {
  const spec = machineSpec({ host: host.name, ...host.machine, ...wanted });
  await host.driver.ensure(spec);
  return spec;
}

/** Ends the install of a guest in which nothing answers. */
export async function endInstall(host: SharedHost, id: string): Promise<void> {
  const record = await requireRecord(host.host.layout, id);
  await writeRecord(host.host.layout, { ...record, installingSince: null });
}

/** A device of a machine: its own disk, or a volume. */
export type Device = { readonly machineId: string } & (
  | { readonly volume?: undefined }
  | { readonly volume: string }
);

/** Carries out a command of qemu-io with the device, and returns what QEMU prints. */
async function io(host: SharedHost, { machineId, volume }: Device, command: string): Promise<string> {
  const log = host.host.layout.machine(machineId, 'qemu.log');
  const before = (await readFile(log, 'utf8')).length;
  const name = volume === undefined ? 'disk' : `vol-${volumeSerial(volume)}`;
  const line = `qemu-io -d /machine/peripheral/dev-${name}/virtio-backend "${command}"`;
  const answer = await withQmp(host.host, machineId, async (qmp) =>
    qmp?.execute<string>('human-monitor-command', { 'command-line': line }),
  );
  return `${answer ?? 'off'}${(await readFile(log, 'utf8')).slice(before)}`;
}

/** Writes at `at`, such as `0` or `1M`. */
export async function write(host: SharedHost, device: Device, byte: number, at = '0'): Promise<void> {
  const printed = await io(host, device, `write -P ${byte} ${at} 4k`);
  if (!printed.includes('wrote 4096')) throw new Error(printed);
}

export async function hasContent(host: SharedHost, device: Device, byte: number, at = '0'): Promise<void> {
  const printed = await io(host, device, `read -P ${byte} ${at} 4k`);
  assert.match(printed, /read 4096/);
  assert.doesNotMatch(printed, /verification failed/);
}

/** Sends the machine until the target may take it over. Returns the move. */
export async function send(
  { from, to }: { readonly from: SharedHost; readonly to: SharedHost },
  spec: MachineSpec,
  volumes: readonly VolumeSpec[] = [],
): Promise<Move> {
  const key = randomBytes(32);
  const move = { id: randomUUID(), machineId: spec.id, key, from: from.name, to: to.name };
  const endpoint = await to.driver.moves.receive(move, { spec: { ...spec, host: to.name }, volumes });
  for (;;) {
    const { state, message } = await from.driver.moves.send(move, endpoint);
    if (state === 'copying') continue;
    assert.equal(state, 'sent', message ?? '');
    return move;
  }
}
