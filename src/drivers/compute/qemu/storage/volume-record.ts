/**
 * A volume on the disk: the driver's record, and the file next to it. While QEMU has the file open, only
 * `readDiskInfo` may be used on it.
 *
 * Changing the record of an attached volume requires the
 * lock of its machine. Changing a detached one, or attaching one, requires the lock `volumes`.
 */

import { mkdir } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import { exists, readAllRecords, readRecordFile, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import type { Layout } from '../layout.ts';
import { createDisk, readDiskInfo, resizeDisk } from '../qcow2.ts';
import type { Moving } from '../record.ts';
import { GIB, requireSpace } from '../space.ts';

export interface VolumeRecord {
  readonly id: string;
  /** Desired size in GiB. */
  readonly sizeGb: number;
  /** Both are null while it is detached. */
  readonly machineId: string | null;
  readonly device: string | null;
  /** The guest was asked to release it and has not done so yet. */
  readonly leaving: boolean;
  /** The file existed once: never recreate it. Records of older versions get this when it is seen. */
  readonly made?: true;
  /** It is in the Ceph cluster and has no file. */
  readonly shared?: true;
  /** Set while it is moved to another host, detached. */
  readonly moving?: Moving;
}

export async function readVolume(layout: Layout, id: string): Promise<VolumeRecord | undefined> {
  return await readRecordFile<VolumeRecord>(layout.volume(id, 'json'), (record) => record.id === id);
}

export async function writeVolume(layout: Layout, record: VolumeRecord): Promise<void> {
  await mkdir(layout.volumes(), { recursive: true, mode: 0o700 });
  await writeJson(layout.volume(record.id, 'json'), record);
}

/** Returns the machine's volumes in the order of their devices, including volumes that are being detached. */
export async function listVolumesOf(host: QemuHost, machineId: string): Promise<VolumeRecord[]> {
  const records = await readAllRecords(host, host.layout.volumes(), (id) => readVolume(host.layout, id));
  const own = records.filter((record) => record.machineId === machineId);
  // `/dev/vdz` sorts before `/dev/vdaa`.
  const order = ({ device }: VolumeRecord) => `${(device ?? '').length} ${device}`;
  return own.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

const MOVES_MAX = 3;

/** Runs the work under the volume's lock. Does nothing if the volume does not exist. */
export async function withVolume(
  host: QemuHost,
  id: string,
  work: (record: VolumeRecord) => Promise<void>,
): Promise<void> {
  for (let moves = 0; moves < MOVES_MAX; moves++) {
    const seen = await readVolume(host.layout, id);
    if (!seen) return;
    const { machineId } = seen;
    const attempt = async () => {
      const record = await readVolume(host.layout, id);
      // It was attached or detached while we waited, so a different lock applies now.
      if (record?.machineId !== machineId) return false;
      await work(record);
      return true;
    };
    const done =
      machineId === null
        ? await host.withHostLock('volumes', attempt)
        : await host.withMachineLock(machineId, attempt);
    if (done) return;
  }
  throw new ComputeError('transient', 'the volume is being moved');
}

/** Ensures that the file exists with the size in its record. A file that once existed is never recreated. */
export async function ensureVolumeFile(host: QemuHost, record: VolumeRecord): Promise<void> {
  const path = host.layout.volume(record.id, 'qcow2');
  if (await exists(path)) return await enlarge(host, record, path);
  // The data exists nowhere else, and an empty file in its place would hide the loss.
  if (record.made) throw new ComputeError('host', 'the file of the volume is missing');
  const sizeBytes = record.sizeGb * GIB;
  await requireSpace(host.layout.volumes(), sizeBytes);
  await createDisk(path, { backing: null, sizeBytes });
}

/** Stores the record with the mark that its file was created once. The caller holds the machine's lock. */
export async function markCreated(host: QemuHost, record: VolumeRecord): Promise<void> {
  if (!record.made) await writeVolume(host.layout, { ...record, made: true });
}

async function enlarge(host: QemuHost, { sizeGb }: VolumeRecord, path: string): Promise<void> {
  const moreBytes = sizeGb * GIB - (await readDiskInfo(host, path)).sizeBytes;
  if (moreBytes <= 0) return;
  await requireSpace(host.layout.volumes(), moreBytes);
  await resizeDisk(host, path, sizeGb);
}
