/** Helpers for files and directories. */
import { chmod, lstat, mkdir, open } from 'node:fs/promises';

/** Syncs a file, or the entries of a directory, to disk. */
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
 * Creates a system directory that everyone can enter and only root can change. Requires root. Throws if
 * others can change an existing one: programs are run from these directories, so their content must be
 * trusted.
 */
export async function createSystemFolder(folder: string): Promise<void> {
  const created = await mkdir(folder, { recursive: true });
  if (created !== undefined) await chmod(folder, 0o755);
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new Error(
      `${folder} must be a directory that only root can change; fix its owner and mode, or remove it`,
    );
  }
}

/** For `.catch` after creating a directory that may already exist. */
export function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
