/** The file of a volume while no QEMU has it open. */
import { access, rename, rm } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { GIB, requireSpace } from './space.ts';
import { type VolumeRecord, writeVolume } from './volume-record.ts';

/** Makes the file be there and as large as its record says. One that was there before is not made again. */
export async function ensureVolumeFile(host: QemuHost, record: VolumeRecord): Promise<void> {
  const path = host.layout.volume(record.id, 'qcow2');
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  // What was on it nobody else has: an empty one in its place would hide the loss.
  if (!exists && record.made) throw new ComputeError('host', 'the file of the volume is not there');
  if (!exists) await createFile(host, record, path);
  else await enlarge(host, record, path);
}

/** Its file was seen. The caller may change the record. */
export async function markCreated(host: QemuHost, record: VolumeRecord): Promise<void> {
  if (!record.made) await writeVolume(host.layout, { ...record, made: true });
}

/** Put in place when it is whole: what is there under its name may be attached. */
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
  /** What a guest sees. */
  readonly sizeBytes: number;
  /** The file that it builds on; null when it stands alone. */
  readonly backing: string | null;
}

/** Of any qcow2 file, also one that QEMU has open. */
export async function readDiskInfo(host: QemuHost, path: string): Promise<DiskInfo> {
  const printed = await host.run('qemu-img', ['info', '-U', '-f', 'qcow2', '--output=json', path]);
  const info = JSON.parse(printed) as {
    readonly 'virtual-size': number;
    readonly 'full-backing-filename'?: string;
  };
  return { sizeBytes: info['virtual-size'], backing: info['full-backing-filename'] ?? null };
}
