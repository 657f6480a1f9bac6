/** Disks as qcow2 files, created and read by qemu-img. */
import { rm } from 'node:fs/promises';
import { run } from './command.ts';
import { commitFile } from './files.ts';

export interface NewDisk {
  /** The disk is an overlay of this file, which is never written again. Null: it is empty. */
  readonly backing: string | null;
  /** Null: the size of the backing file. */
  readonly sizeBytes: number | null;
}

/** Creates the file under a temporary name, so that it is complete when it has its own. */
export async function createDisk(path: string, disk: NewDisk): Promise<void> {
  const tempPath = `${path}.new`;
  await rm(tempPath, { force: true });
  await createQcow2(tempPath, disk);
  await commitFile(tempPath, path);
}

export async function createQcow2(path: string, { backing, sizeBytes }: NewDisk): Promise<void> {
  const base = backing === null ? [] : ['-b', backing, '-F', 'qcow2'];
  const size = sizeBytes === null ? [] : [String(sizeBytes)];
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', ...base, path, ...size]);
}

export interface DiskInfo {
  /** The size that a guest sees. */
  readonly sizeBytes: number;
  /** The backing file, or null. */
  readonly backing: string | null;
}

/** Works for any qcow2 file, also while QEMU has it open. */
export async function readDiskInfo(path: string): Promise<DiskInfo> {
  const printed = await run('qemu-img', ['info', '-U', '-f', 'qcow2', '--output=json', path]);
  const info = JSON.parse(printed) as {
    readonly 'virtual-size': number;
    readonly 'full-backing-filename'?: string;
  };
  return { sizeBytes: info['virtual-size'], backing: info['full-backing-filename'] ?? null };
}
