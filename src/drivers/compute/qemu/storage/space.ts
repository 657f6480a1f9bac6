/** Room on the disk of this host. Files grow as guests write to them: what is promised must fit when it is promised. */
import { mkdir, stat, statfs } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';

export const GIB = 1024 ** 3;
/** Stays free, so that guests can still write when somebody makes a volume or a snapshot. */
const RESERVE_BYTES = 2 * GIB;

/** Makes the folder, and fails as `host` when so much does not fit into it. */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize - RESERVE_BYTES < bytes) {
    throw new ComputeError('host', 'the disk of the host is too full for it');
  }
}

/** Bytes of the disk that the file takes: less than its length, for it has holes. Undefined when there is none. */
export async function allocatedBytes(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).blocks * 512;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
