/**
 * Disks as qcow2 files, created and read by qemu-img. A guest that took over its QEMU can write anything into
 * its disk, so an existing one is opened in a namespace of its own, where its header can name no other file.
 */
import { chown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { HOUR_MS } from '../../../kernel/time.ts';
import { run } from './command.ts';
import { commitFile } from './files.ts';
import type { QemuHost } from './host.ts';
import { isolationCommand, type Mount, SYSTEM_MOUNTS } from './namespace.ts';

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
export async function readDiskInfo(host: QemuHost, path: string): Promise<DiskInfo> {
  const { uid } = await stat(path);
  const args = ['info', '-U', '-f', 'qcow2', '--output=json', path];
  const [program = '', ...words] = await isolatedQemuImg(host, { uid, files: [[path, 'ro']] }, args);
  const printed = await run(program, words);
  const info = JSON.parse(printed) as {
    readonly 'virtual-size': number;
    readonly 'full-backing-filename'?: string;
  };
  return { sizeBytes: info['virtual-size'], backing: info['full-backing-filename'] ?? null };
}

/** Enlarges a disk that no QEMU has open. */
export async function resizeDisk(host: QemuHost, path: string, sizeGb: number): Promise<void> {
  const { uid } = await stat(path);
  const [program = '', ...words] = await resizeCommand(host, { path, uid, sizeGb, backing: null });
  await run(program, words);
}

/** Returns the command that enlarges a disk of that user. */
export async function resizeCommand(
  host: QemuHost,
  disk: {
    readonly path: string;
    readonly uid: number;
    readonly sizeGb: number;
    readonly backing: string | null;
  },
): Promise<string[]> {
  const { path, uid, sizeGb, backing } = disk;
  const files: OpenedFile[] = [[path, 'rw'], ...(backing === null ? [] : [[backing, 'ro'] as const])];
  return await isolatedQemuImg(host, { uid, files }, ['resize', '-q', '-f', 'qcow2', path, `${sizeGb}G`]);
}

/** For a copy of a whole disk. */
const FLATTEN_MAX_MS = 6 * HOUR_MS;

/** Makes a disk with the same content as the overlay of `image`, and without one. */
export async function flattenDisk(
  host: QemuHost,
  { path, image, to }: { readonly path: string; readonly image: string | null; readonly to: string },
): Promise<void> {
  const { uid } = await stat(path);
  // A file that does not exist cannot be mounted.
  await writeFile(to, '', { mode: 0o600 });
  await chown(to, uid, uid);
  const args = ['convert', '-f', 'qcow2', '-O', 'qcow2', path, to];
  const images: OpenedFile[] = image === null ? [] : [[image, 'ro']];
  const files: OpenedFile[] = [[path, 'ro'], ...images, [to, 'rw']];
  const [program = '', ...words] = await isolatedQemuImg(host, { uid, files }, args);
  await run(program, words, { timeoutMs: FLATTEN_MAX_MS });
}

/**
 * Returns the command that writes the content of the overlay of `image` into a compressed disk without one.
 * It yields to everything else on this host.
 */
export async function compressCommand(
  host: QemuHost,
  { path, image, to }: { readonly path: string; readonly image: string | null; readonly to: string },
): Promise<string[]> {
  const { uid } = await stat(path);
  await writeFile(to, '', { mode: 0o600 });
  await chown(to, uid, uid);
  const args = ['convert', '-c', '-f', 'qcow2', '-O', 'qcow2', '-o', 'compression_type=zstd', path, to];
  const images: OpenedFile[] = image === null ? [] : [[image, 'ro']];
  const files: OpenedFile[] = [[path, 'ro'], ...images, [to, 'rw']];
  return ['nice', '-n', '19', 'ionice', '-c', '3', ...(await isolatedQemuImg(host, { uid, files }, args))];
}

/** Makes the disk an overlay of the same image at another path. Both must be equal. */
export async function rebaseDisk(host: QemuHost, path: string, image: string): Promise<void> {
  const { uid } = await stat(path);
  const args = ['rebase', '-q', '-u', '-f', 'qcow2', '-b', image, '-F', 'qcow2', path];
  const files: OpenedFile[] = [
    [path, 'rw'],
    [image, 'ro'],
  ];
  const [program = '', ...words] = await isolatedQemuImg(host, { uid, files }, args);
  await run(program, words);
}

type OpenedFile = readonly [path: string, mode: Mount['mode']];

/** Only root has privileges to lose, and needs a namespace for that. */
async function isolatedQemuImg(
  host: QemuHost,
  { uid, files }: { readonly uid: number; readonly files: readonly OpenedFile[] },
  args: readonly string[],
): Promise<string[]> {
  if (process.getuid?.() !== 0) return ['qemu-img', ...args];
  const root = host.layout.emptyRoot();
  await mkdir(root, { recursive: true, mode: 0o700 });
  const mounts = [...SYSTEM_MOUNTS, ...files.map(([path, mode]) => ({ mode, from: path, to: path }))];
  return [...isolationCommand({ root, uid, mounts, devices: ['null'] }), 'qemu-img', ...args];
}
