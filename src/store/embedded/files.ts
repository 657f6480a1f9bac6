/** Files and directories: ownership, and flocks. */
import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { run } from './child.ts';

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

/**
 * Takes the flock on an open file, with the program `flock`: Node has no call for it. Every process with that
 * open file holds it. Returns false at once if it is taken.
 */
export async function tryLock(file: FileHandle): Promise<boolean> {
  const { code, output } = await run('flock', ['-n', '3'], { descriptor: file.fd });
  if (code !== 0 && code !== 1) {
    throw new Error(
      `cannot lock the data directory with the program "flock" (install util-linux): ${output}`,
    );
  }
  return code === 0;
}

/** Whether the lock on the file at `path` is free. A missing file is free. */
export async function isUnlocked(path: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (file === null) return true;
  try {
    return await tryLock(file);
  } finally {
    await file.close();
  }
}
