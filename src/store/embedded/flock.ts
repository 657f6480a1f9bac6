/** Taking an flock. Node has no call for it, but the program `flock` can take one on a descriptor it inherits. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { run } from './child.ts';

/** Takes the lock on an open file, for whoever has the file open; false when others hold it. Does not wait. */
export async function tryLock(file: FileHandle): Promise<boolean> {
  const { code, output } = await run('flock', ['-n', '3'], { descriptor: file.fd });
  if (code !== 0 && code !== 1) {
    throw new Error(`cannot lock the data folder with the program "flock" (install util-linux): ${output}`);
  }
  return code === 0;
}

/** Whether nobody holds the lock on the file at `path`. One that is missing is free. */
export async function isUnlocked(path: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (file === null) return true;
  try {
    return await tryLock(file);
  } finally {
    await file.close();
  }
}
