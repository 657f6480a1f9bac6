/**
 * Makes QEMU match the machine's record. Any step may already be done, or half done by a killed process: a
 * partial start is ended and repeated. The caller holds the machine's lock and has written the record.
 */
import { readFile } from 'node:fs/promises';
import { ComputeError, MissingFile } from '../../../../ports/compute.ts';
import { DiskFullError, exists } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { QemuImages } from '../images/images.ts';
import { plugNetwork } from '../net/network.ts';
import { createDisk } from '../qcow2.ts';
import type { Qmp } from '../qmp.ts';
import { type MachineRecord, writeRecord } from '../record.ts';
import { plugSharedDisk, requireSharedDisk } from '../storage/shared-disks.ts';
import { plugVolumes } from '../storage/volumes.ts';
import { limitProcess } from './cgroup.ts';
import type { CommandLine } from './command-line.ts';
import { resetCrashes } from './crashes.ts';
import { insertedPath, isoPath, removePreviousDisks, removeRescue, rescuePath, seedPath } from './disks.ts';
import { endProcess, launch } from './process.ts';
import { bootName, readQemuState } from './qemu-state.ts';

/** `off`: the guest had shut itself down, and it stays off. */
export type ReconcileOutcome = 'as-it-was' | 'started' | 'off';

export async function reconcile(host: QemuHost, record: MachineRecord): Promise<ReconcileOutcome> {
  if (record.power === 'off') {
    await switchOff(host, record);
    return 'off';
  }
  const qemu = await readQemuState(host, record.spec.id);
  const isExpected = qemu.state !== 'gone' && qemu.state !== 'begun' && qemu.name === bootName(record);
  if (isExpected && qemu.state === 'off') {
    await switchOff(host, record);
    return 'off';
  }
  if (isExpected) return 'as-it-was';
  await start(host, record);
  return 'started';
}

/** Powers the machine off and ends a rescue. Works even if the disk is full. */
export async function switchOff(host: QemuHost, record: MachineRecord): Promise<void> {
  const off: MachineRecord = { ...record, power: 'off', rescue: null };
  const isWritten = await writeRecord(host.layout, off).then(() => true, falseIfDiskFull);
  await endProcess(host, record.spec.id);
  await removeRescue(host, record.spec.id);
  // The disk is free to write now, and deleting the rescue overlay has made room.
  if (!isWritten) await writeRecord(host.layout, off);
}

function falseIfDiskFull(error: unknown): false {
  if (error instanceof DiskFullError) return false;
  throw error;
}

/** Stores the record and boots what it says. A requested start clears the history of crashes. */
export async function boot(host: QemuHost, record: MachineRecord): Promise<void> {
  await writeRecord(host.layout, record);
  await resetCrashes(host, record.spec.id);
  await start(host, record);
}

/** Ends the machine's QEMU and boots what the record says. */
export async function start(host: QemuHost, record: MachineRecord): Promise<void> {
  const { id } = record.spec;
  await endProcess(host, id);
  await prepareDisks(host, record);
  await plugNetwork(host, record);
  const qmp = await launch(host, id, await commandLineFor(host, record));
  try {
    await limitProcess(host, record.spec, Number(await readFile(host.layout.runtimeFile(id, 'pid'), 'utf8')));
    await plugOwnDisk(host, qmp, record);
    await plugVolumes(host, id, qmp);
    await qmp.execute('cont');
  } catch (error) {
    qmp.close();
    await endProcess(host, id);
    throw error;
  }
  qmp.close();
  await removePreviousDisks(host, record);
}

/** Makes the running guest's CD drive reload the seed file. */
export async function changeSeed(qmp: Qmp, filename: string): Promise<void> {
  const medium = { id: 'dev-cd', filename, format: 'raw', 'read-only-mode': 'read-only', force: true };
  await qmp.execute('blockdev-change-medium', medium);
  // The previous file stays open until its node is deleted. A repeated call finds no such node.
  await qmp.execute('blockdev-del', { 'node-name': 'cd' }).catch(() => undefined);
}

/**
 * Starts a QEMU that copies or receives the disks of a machine that is moved. Its guest does not run: it has
 * the machine's devices, but no routes.
 */
export async function launchForMove(
  host: QemuHost,
  record: MachineRecord,
  {
    isIncoming,
    hasIsoDrive = true,
    plugDisks,
  }: {
    readonly isIncoming: boolean;
    /** The QEMU that the guest comes from has the drive for ISO images. */
    readonly hasIsoDrive?: boolean;
    readonly plugDisks: (qmp: Qmp) => Promise<void>;
  },
): Promise<Qmp> {
  const { id } = record.spec;
  await endProcess(host, id);
  await plugNetwork(host, record, { isRouted: false });
  const line = await commandLineFor(host, record);
  const qmp = await launch(host, id, hasIsoDrive ? line : { ...line, isoDrive: null }, isIncoming);
  try {
    await limitProcess(host, record.spec, Number(await readFile(host.layout.runtimeFile(id, 'pid'), 'utf8')));
    if (record.spec.sharedDisk) await plugSharedDisk(host, qmp, record);
    await plugDisks(qmp);
    return qmp;
  } catch (error) {
    qmp.close();
    await endProcess(host, id);
    throw error;
  }
}

async function plugOwnDisk(host: QemuHost, qmp: Qmp, record: MachineRecord): Promise<void> {
  if (!record.spec.sharedDisk) return;
  await plugSharedDisk(host, qmp, record);
  // The firmware learns the order of boot devices at a reset.
  await qmp.execute('system_reset');
}

async function prepareDisks(host: QemuHost, record: MachineRecord): Promise<void> {
  const { id, sharedDisk } = record.spec;
  if (sharedDisk) await requireSharedDisk(host, id, record.generation);
  // Never recreate the disk: its data exists nowhere else.
  else if (!(await exists(host.layout.disk(id, record.generation)))) {
    throw new ComputeError('host', 'the disk of the machine is missing');
  }
  if (record.rescue === null) return await removeRescue(host, id);
  const overlay = rescuePath(host, id, 'rescue.qcow2');
  if (!(await exists(overlay)))
    await createDisk(overlay, { backing: await requireRescueImage(host), sizeBytes: null });
}

/** Returns the path of the rescue system's disk. */
export async function requireRescueImage(host: QemuHost): Promise<string> {
  const image = await new QemuImages(host).rescue();
  if (image === null) throw new MissingFile('no rescue system is imported on this host');
  return host.layout.image(image.sha256);
}

async function commandLineFor(host: QemuHost, record: MachineRecord): Promise<CommandLine> {
  const { spec, generation } = record;
  const { id } = spec;
  const isRescue = record.rescue !== null;
  const own = spec.image.iso === null ? seedPath(host, id, generation) : isoPath(host, id, generation);
  const cd = isRescue ? rescuePath(host, id, 'rescue-seed.iso') : own;
  return {
    name: bootName(record),
    accelerator: host.options.accelerator,
    cpu: spec.cpu,
    ramMb: spec.ramMb,
    run: {
      qmp: host.layout.runtimeFile(id, 'qmp'),
      queryQmp: host.layout.runtimeFile(id, 'look'),
      vnc: host.layout.runtimeFile(id, 'vnc'),
      pid: host.layout.runtimeFile(id, 'pid'),
    },
    disk: spec.sharedDisk ? null : host.layout.disk(id, generation),
    rescueDisk: isRescue ? rescuePath(host, id, 'rescue.qcow2') : null,
    // A machine restored from a snapshot has no ISO.
    cd: (await exists(cd)) ? cd : null,
    isoDrive: {
      iso: record.drive ? insertedPath(host, id, record.drive.sha256) : null,
      boots: record.drive?.boots ?? false,
    },
    tap: host.tap(id),
    mac: host.mac(id),
  };
}
