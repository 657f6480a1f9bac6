/** Files and directories, for all that store something on the disk. */
import { open } from 'node:fs/promises';

/** Syncs a file, or the names in a directory, to the disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** For `.catch` of a call on a path that may not exist: then undefined. */
export function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
