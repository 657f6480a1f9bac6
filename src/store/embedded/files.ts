/** Small helpers over files and folders. */
import { chmod, lstat, mkdir, open } from 'node:fs/promises';

/** Brings a file, or the names in a folder, to the disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

/**
 * Makes a folder of the system that everyone may pass and only root may change, for root. Throws when one
 * is there that others can change: programs are run from such folders, and what is in them is trusted.
 */
export async function createSystemFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made !== undefined) await chmod(folder, 0o755);
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new Error(
      `${folder} must be a folder that only root can change; mend its owner and mode, or remove it`,
    );
  }
}

/** For `.catch` after making a folder: that it exists already is well. */
export function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
