/** The file of a volume. While QEMU has it open, only `readDiskInfo` may be used. */
import { access, rename, rm } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { GIB, requireSpace } from './space.ts';
import { type VolumeRecord, writeVolume } from './volume-record.ts';

/** Ensures that the file exists with the size in its record. A file that once existed is never recreated. */
export async function ensureVolumeFile(host: QemuHost, record: VolumeRecord): Promise<void> {
  const path = host.layout.volume(record.id, 'qcow2');
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  // The data exists nowhere else, and an empty file in its place would hide the loss.
  if (!exists && record.made) throw new ComputeError('host', 'the file of the volume is missing');
  if (!exists) await createFile(host, record, path);
  else await enlarge(host, record, path);
}

/** Stores the record with the mark that its file was created once. The caller holds the machine's lock. */
export async function markCreated(host: QemuHost, record: VolumeRecord): Promise<void> {
  if (!record.made) await writeVolume(host.layout, { ...record, made: true });
}

/** Renames the file only when it is complete: a file with the final name may be attached. */
async function createFile(host: QemuHost, { sizeGb }: VolumeRecord, path: string): Promise<void> {
  await requireSpace(host.layout.volumes(), sizeGb * GIB);
  const tempPath = `${path}.new`;
  await rm(tempPath, { force: true });
  await host.run('qemu-img', ['create', '-q', '-f', 'qcow2', tempPath, `${sizeGb}G`]);
  await rename(tempPath, path);
}

async function enlarge(host: QemuHost, { sizeGb }: VolumeRecord, path: string): Promise<void> {
  const moreBytes = sizeGb * GIB - (await readDiskInfo(host, path)).sizeBytes;
  if (moreBytes <= 0) return;
  await requireSpace(host.layout.volumes(), moreBytes);
  await host.run('qemu-img', ['resize', '-q', '-f', 'qcow2', path, `${sizeGb}G`]);
}

export interface DiskInfo {
  /** Size that a guest sees. */
  readonly sizeBytes: number;
  /** The backing file, or null. */
  readonly backing: string | null;
}

/** Works for any qcow2 file, also while QEMU has it open. */
export async function readDiskInfo(host: QemuHost, path: string): Promise<DiskInfo> {
  const printed = await host.run('qemu-img', ['info', '-U', '-f', 'qcow2', '--output=json', path]);
  const info = JSON.parse(printed) as {
    readonly 'virtual-size': number;
    readonly 'full-backing-filename'?: string;
  };
  return { sizeBytes: info['virtual-size'], backing: info['full-backing-filename'] ?? null };
}
