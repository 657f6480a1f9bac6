/**
 * Makes QEMU be what the machine's record says. Each step may have been done before, or half done by somebody who was
 * killed: what is half started is ended and started anew. The caller holds the machine's lock, and has written the record.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { QemuImages } from '../images/images.ts';
import { DiskFullError } from '../json-file.ts';
import { limitProcess } from '../metrics/cgroup.ts';
import { plugNetwork } from '../net/plug.ts';
import type { Qmp } from '../qmp.ts';
import { type MachineRecord, writeRecord } from '../record.ts';
import { plugVolumes } from '../storage/volumes.ts';
import { bootName } from './boot-name.ts';
import { buildCommandLine, type CommandLine } from './command-line.ts';
import {
  createOverlay,
  exists,
  isoPath,
  removePreviousDisks,
  removeRescue,
  rescuePath,
  seedPath,
} from './disks.ts';
import { endProcess, launch } from './process.ts';
import { readQemuState } from './qemu-state.ts';

/** What it came to. `off`: the guest had switched itself off, and stays so. */
export type ReconcileOutcome = 'as-it-was' | 'started' | 'off';

export async function reconcile(host: QemuHost, record: MachineRecord): Promise<ReconcileOutcome> {
  if (record.power === 'off') {
    await switchOff(host, record);
    return 'off';
  }
  const sight = await readQemuState(host, record.spec.id);
  const isExpected = sight.state !== 'gone' && sight.state !== 'begun' && sight.name === bootName(record);
  if (isExpected && sight.state === 'off') {
    await switchOff(host, record);
    return 'off';
  }
  if (isExpected) return 'as-it-was';
  await start(host, record);
  return 'started';
}

/** Off, whoever decided so. A rescue is over with it. A disk that is full is no reason to stay on. */
export async function switchOff(host: QemuHost, record: MachineRecord): Promise<void> {
  const off: MachineRecord = { ...record, power: 'off', rescue: null };
  const isWritten = await writeRecord(host.layout, off).then(() => true, falseIfDiskFull);
  await endProcess(host, record.spec.id);
  await removeRescue(host, record.spec.id);
  // Now it writes no more, and its rescue's disk has made room.
  if (!isWritten) await writeRecord(host.layout, off);
}

function falseIfDiskFull(error: unknown): false {
  if (error instanceof DiskFullError) return false;
  throw error;
}

/** Ends what runs of the machine, and boots what its record says. */
export async function start(host: QemuHost, record: MachineRecord): Promise<void> {
  const { id } = record.spec;
  await endProcess(host, id);
  await prepareDisks(host, record);
  await plugNetwork(host, record);
  await mkdir(dirname(host.layout.runtimeFile(id, 'qmp')), { recursive: true, mode: 0o700 });
  const qmp = await launch(host, id, buildCommandLine(await commandLineFor(host, record)));
  try {
    await limitProcess(host, record.spec, Number(await readFile(host.layout.runtimeFile(id, 'pid'), 'utf8')));
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

/** Has the running guest's CD drive read the seed's file as it is now. */
export async function changeSeed(qmp: Qmp, filename: string): Promise<void> {
  const medium = { id: 'dev-cd', filename, format: 'raw', 'read-only-mode': 'read-only', force: true };
  await qmp.execute('blockdev-change-medium', medium);
  // The file before is open until its node is gone. There is none when this was done before.
  await qmp.execute('blockdev-del', { 'node-name': 'cd' }).catch(() => undefined);
}

async function prepareDisks(host: QemuHost, record: MachineRecord): Promise<void> {
  const { id } = record.spec;
  // It is never made again: what was on it nobody else has.
  if (!(await exists(host.layout.disk(id, record.generation)))) {
    throw new ComputeError('host', 'the disk of the machine is not there');
  }
  if (record.rescue === null) return await removeRescue(host, id);
  const overlay = rescuePath(host, id, 'rescue.qcow2');
  if (!(await exists(overlay)))
    await createOverlay(host, overlay, { base: await requireRescueImage(host), diskGb: null });
}

/** The path of the disk that rescue systems boot from. */
export async function requireRescueImage(host: QemuHost): Promise<string> {
  const image = await new QemuImages(host).rescue();
  if (image === null) throw new ComputeError('refused', 'no image was made the rescue system of this host');
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
    disk: host.layout.disk(id, generation),
    rescueDisk: isRescue ? rescuePath(host, id, 'rescue.qcow2') : null,
    // What was restored from a snapshot has no ISO.
    cd: (await exists(cd)) ? cd : null,
    tap: host.tap(id),
    mac: host.mac(id),
  };
}
