/** Checks for disk space on this host. Files grow as guests write, so a promise must fit when it is made. */
import { mkdir, stat, statfs } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';

export const GIB = 1024 ** 3;
/** Stays free, so that running guests can write while volumes and snapshots are created. */
const RESERVE_BYTES = 2 * GIB;

/** Creates the folder and throws a `host` error if this many bytes do not fit. */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize - RESERVE_BYTES < bytes) {
    throw new ComputeError('host', 'the host does not have enough disk space');
  }
}

/**
 * Returns the file's size on disk, which is less than its length if it has holes. Undefined if it does not
 * exist.
 */
export async function allocatedBytes(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).blocks * 512;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
