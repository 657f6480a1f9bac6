/**
 * The target's side of a move. `receive` only makes room; the source then asks to *prepare* it, which starts
 * a QEMU that takes the disks and the memory, and to *finish* it. All of it can be repeated from the start.
 */
import { chown, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ComputeError, type MachineSpec, type VolumeSpec } from '../../../../ports/compute.ts';
import type { Move, MovedMachine, MoveEndpoint } from '../../../../ports/moves.ts';
import { exists, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { removeLimits } from '../machine/cgroup.ts';
import { createMachineFolder, seedPath } from '../machine/disks.ts';
import { requireFreeAddresses, requireHost, toStoredSpec } from '../machine/install.ts';
import { giveFile } from '../machine/isolation.ts';
import { endProcess } from '../machine/process.ts';
import { bootName } from '../machine/qemu-state.ts';
import { launchForMove } from '../machine/start.ts';
import { plugNetwork, unplugNetwork } from '../net/network.ts';
import { createDisk } from '../qcow2.ts';
import { type Qmp, withQmp } from '../qmp.ts';
import { type MachineRecord, readRecord } from '../record.ts';
import { GIB, requireDiskSpace, requireSpace } from '../space.ts';
import { readClaimsToTake } from '../storage/claims.ts';
import { nodeName, plug, plugLent } from '../storage/hot-plug.ts';
import { diskClaim } from '../storage/shared-disks.ts';
import { readVolume } from '../storage/volume-record.ts';
import {
  type Incoming,
  incomingVolume,
  readIncoming,
  removeReceivedMove,
  type ToldState,
  writeIncoming,
  writeReceivedMove,
} from './incoming.ts';
import type { FinishRequest, PrepareAnswer, PrepareRequest } from './messages.ts';

/** Less than the source waits for the answer. */
const LOAD_MAX_MS = 10_000;
const LOAD_CHECK_MS = 20;

export async function receiveMachine(
  host: QemuHost,
  move: Move,
  machine: MovedMachine,
): Promise<MoveEndpoint> {
  const { spec, volumes } = machine;
  const address = host.options.peerAddress ?? null;
  if (address === null)
    throw new ComputeError(
      'host',
      'no machine can be moved to this host: it does not listen for other hosts',
    );
  requireHost(host, spec);
  return await host.withMachineLock(spec.id, async () => {
    const known = await readIncoming(host.layout, spec.id);
    if (await readRecord(host.layout, spec.id)) {
      throw new ComputeError('refused', 'the machine is on this host already');
    }
    if (known && known.moveId !== move.id) await removeIncoming(host, known);
    if (known?.moveId !== move.id) {
      await requireRoom(host, machine);
      const claims = await readClaimsToTake(host, sharedClaims(machine));
      await createMachineFolder(host, spec.id);
      const { generation } = spec;
      const incoming = {
        moveId: move.id,
        spec: toStoredSpec(spec),
        generation,
        volumes,
        claims,
        state: null,
        isComplete: false,
      };
      await writeIncoming(host.layout, incoming);
    }
    const key = Buffer.from(move.key).toString('hex');
    await writeReceivedMove(host.layout, move.id, { machineId: spec.id, key });
    return { address };
  });
}

/** The claims of the source that this host takes over: on the disk, and on volumes. */
function sharedClaims({ spec, volumes }: MovedMachine): string[] {
  const own = spec.sharedDisk ? [diskClaim(spec.id)] : [];
  return [...own, ...volumes.flatMap(({ id, shared }) => (shared ? [id] : []))];
}

async function requireRoom(host: QemuHost, { spec, volumes }: MovedMachine): Promise<void> {
  await requireDiskSpace(host.layout);
  await requireFreeAddresses(host, spec);
  const ownGb = volumes.reduce((sum, { sizeGb, shared }) => sum + (shared ? 0 : sizeGb), 0);
  await requireSpace(host.layout.volumes(), ownGb * GIB);
  for (const { id } of volumes) {
    if (await readVolume(host.layout, id))
      throw new ComputeError('host', 'the host has a volume of the machine already');
  }
}

/** Returns the incoming machine of the move, whose copy is not complete yet. */
async function requireIncoming(host: QemuHost, moveId: string, machineId: string): Promise<Incoming> {
  const incoming = await readIncoming(host.layout, machineId);
  if (incoming?.moveId !== moveId || incoming.isComplete || (await readRecord(host.layout, machineId)))
    throw new ComputeError('refused', 'the host does not expect the machine');
  return incoming;
}

/** Makes empty disks and starts a QEMU that takes their content. Replaces those of an earlier attempt. */
export async function prepareIncoming(
  host: QemuHost,
  { moveId, machineId }: { readonly moveId: string; readonly machineId: string },
  wanted: PrepareRequest,
): Promise<PrepareAnswer> {
  return await host.withMachineLock(machineId, async () => {
    const incoming = await requireIncoming(host, moveId, machineId);
    requireExpected(incoming, wanted);
    await endProcess(host, machineId);
    const { generation } = incoming;
    const image = wanted.base === null ? null : host.layout.image(wanted.base);
    const backing = image !== null && (await exists(image)) ? image : null;
    if (!incoming.spec.sharedDisk)
      await createDisk(host.layout.disk(machineId, generation), { backing, sizeBytes: wanted.diskBytes });
    const seed = seedPath(host, machineId, generation);
    if (wanted.seed === null) await rm(seed, { force: true });
    else await writeFile(seed, Buffer.from(wanted.seed, 'base64'), { mode: 0o600 });
    const sizes = new Map(wanted.volumes.map(({ id, bytes }) => [id, bytes]));
    const plugDisks = async (qmp: Qmp) => {
      for (const volume of incoming.volumes)
        await plugIncoming(host, qmp, { machineId, volume, bytes: sizes.get(volume.id) ?? 0 });
      await listenForDisks(host, qmp, incoming);
    };
    const state = wanted.state as ToldState;
    await writeIncoming(host.layout, { ...incoming, state });
    const record = toRecord(incoming, state);
    const qmp = await launchForMove(host, record, {
      isIncoming: true,
      hasIsoDrive: wanted.isoDrive ?? false,
      plugDisks,
    });
    qmp.close();
    return { ok: true, hasBase: backing !== null, isoDrive: true };
  });
}

/** The control plane says what may arrive, and how large it is. */
function requireExpected(incoming: Incoming, { generation, diskBytes, volumes }: PrepareRequest): void {
  const limits = new Map(incoming.volumes.map(({ id, sizeGb }) => [id, sizeGb * GIB]));
  const isExpected =
    generation === incoming.generation &&
    diskBytes <= incoming.spec.diskGb * GIB &&
    volumes.length === limits.size &&
    volumes.every(({ id, bytes }) => bytes <= (limits.get(id) ?? 0));
  if (!isExpected)
    throw new ComputeError('refused', 'the disks of the machine are not those that are expected');
}

async function plugIncoming(
  host: QemuHost,
  qmp: Qmp,
  arrival: { readonly machineId: string; readonly volume: VolumeSpec; readonly bytes: number },
): Promise<void> {
  const { machineId, volume, bytes } = arrival;
  // QEMU does not write to it before the guest arrives.
  if (volume.shared) return await plug(host, qmp, { ...volume, machineId, leaving: false });
  const file = incomingVolume(host.layout, machineId, volume.id);
  await createDisk(file, { backing: null, sizeBytes: bytes });
  await giveFile(host, machineId, file);
  const path = host.layout.volume(volume.id, 'qcow2');
  await plugLent(qmp, { id: volume.id, device: volume.device, path });
}

/** QEMU may create its sockets in the folder only now: nothing of a guest has reached it yet. */
async function listenForDisks(host: QemuHost, qmp: Qmp, { spec, volumes }: Incoming): Promise<void> {
  const socket = (file: 'move-disks' | 'move-memory') => host.layout.runtimeFile(spec.id, file);
  const folder = dirname(socket('move-disks'));
  await giveFile(host, spec.id, folder);
  const addr = { type: 'unix', data: { path: socket('move-disks') } };
  await qmp.execute('nbd-server-start', { addr, 'max-connections': 0 });
  for (const node of nodesOf(spec, volumes))
    await qmp.execute('block-export-add', {
      type: 'nbd',
      id: node,
      'node-name': node,
      name: node,
      writable: true,
    });
  await qmp.execute('migrate-incoming', { uri: `unix:${socket('move-memory')}` });
  await chown(folder, 0, 0);
}

/** The block nodes of a machine that are copied: its disk and its volumes, unless they are shared. */
export function nodesOf(
  { sharedDisk }: Pick<MachineSpec, 'sharedDisk'>,
  volumes: readonly Pick<VolumeSpec, 'id' | 'shared'>[],
): string[] {
  const own = sharedDisk ? [] : ['disk'];
  return [...own, ...volumes.flatMap(({ id, shared }) => (shared ? [] : [nodeName(id)]))];
}

/** Stores what the source tells last. From then on, the copy is complete and may be taken over. */
export async function finishIncoming(
  host: QemuHost,
  { moveId, machineId }: { readonly moveId: string; readonly machineId: string },
  { state, metrics }: FinishRequest,
): Promise<{ ok: true }> {
  return await host.withMachineLock(machineId, async () => {
    const incoming = await requireIncoming(host, moveId, machineId);
    for (const [name, content] of Object.entries(metrics)) {
      const path = host.layout.machine(machineId, name);
      if (content !== null)
        await writeJson(path, JSON.parse(Buffer.from(content, 'base64').toString('utf8')));
    }
    const told = state as ToldState;
    const record = toRecord(incoming, told);
    if (told.power === 'off') await endProcess(host, machineId);
    else await requireArrived(host, record);
    // Its filter was changed during the move.
    if (told.power === 'on' && !isDeepStrictEqual(told, incoming.state))
      await plugNetwork(host, record, { isRouted: false });
    await writeIncoming(host.layout, { ...incoming, state: told, isComplete: true });
    return { ok: true as const };
  });
}

/** QEMU has all of the guest, which it will run on `cont`. It may still be loading the end of it. */
async function requireArrived(host: QemuHost, record: MachineRecord): Promise<void> {
  const deadline = performance.now() + LOAD_MAX_MS;
  for (;;) {
    const status = await readStatus(host, record);
    if (status === 'paused') return;
    if (status !== 'inmigrate' || performance.now() > deadline)
      throw new ComputeError('transient', 'the guest has not arrived');
    await pause(LOAD_CHECK_MS);
  }
}

/** Undefined: this QEMU is not that of the move. */
async function readStatus(host: QemuHost, record: MachineRecord): Promise<string | undefined> {
  return await withQmp(host, record.spec.id, async (qmp) => {
    const { name } = (await qmp?.execute<{ readonly name?: string }>('query-name')) ?? {};
    if (name !== bootName(record)) return undefined;
    return (await qmp?.execute<{ readonly status: string }>('query-status'))?.status;
  });
}

export function toRecord(
  { spec, generation }: Pick<Incoming, 'spec' | 'generation'>,
  { power, filter, traffic }: ToldState,
): MachineRecord {
  const installed = { installingSince: null, answersSince: null, rescue: null };
  return { spec, generation, power, ...installed, filter, traffic };
}

/** Deletes everything that arrived. */
export async function removeIncoming(host: QemuHost, { spec, moveId }: Incoming): Promise<void> {
  const { id } = spec;
  await removeReceivedMove(host.layout, moveId);
  await endProcess(host, id);
  await unplugNetwork(host, id);
  await removeLimits(host, id);
  await rm(host.layout.machine(id), { recursive: true, force: true, maxRetries: 5 });
}

export async function forgetIncoming(host: QemuHost, move: Move): Promise<void> {
  await host.withMachineLock(move.machineId, async () => {
    const incoming = await readIncoming(host.layout, move.machineId);
    if (await readRecord(host.layout, move.machineId))
      throw new ComputeError('refused', 'the host has the machine: the move was completed');
    if (incoming?.moveId === move.id) await removeIncoming(host, incoming);
    else await removeReceivedMove(host.layout, move.id);
  });
}
