/** Takes flocks. Node has no call for it, but the program `flock` can take one on an inherited descriptor. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { run } from './child.ts';

/**
 * Takes the lock on an open file; every process with that open file holds it. Returns false at once if it is
 * taken.
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
