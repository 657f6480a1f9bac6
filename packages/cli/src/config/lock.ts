/** One at a time, over processes: whoever makes the file has the turn. */
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { Failure } from '../exit-codes.ts';

const PAUSE_MS = 20;
const PATIENCE_MS = 5_000;
/** No turn takes so long: whoever had it was killed. */
const STALE_MS = 3_000;

export function locked<T>(path: string, turn: () => T): T {
  const deadlineMs = Date.now() + PATIENCE_MS;
  while (!taken(path)) {
    if (Date.now() > deadlineMs)
      throw new Failure('conflict', `${path} is kept by another skerry: take it away if none runs`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
  try {
    return turn();
  } finally {
    rmSync(path, { force: true });
  }
}

function taken(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    removeStale(path);
    return false;
  }
}

function removeStale(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > STALE_MS) rmSync(path, { force: true });
  } catch {
    // It went away meanwhile, which is what was wanted.
  }
}
