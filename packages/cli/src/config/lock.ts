/** A lock between processes: the process that creates the file holds it. */
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { Failure } from '../exit-codes.ts';

const POLL_MS = 20;
const TIMEOUT_MS = 5_000;
/** No holder needs this long: an older lock belongs to a process that was killed. */
const STALE_MS = 3_000;

export function withLock<T>(path: string, action: () => T): T {
  const deadlineMs = Date.now() + TIMEOUT_MS;
  while (!tryAcquire(path)) {
    if (Date.now() > deadlineMs)
      throw new Failure('conflict', `${path} is locked by another skerry; delete it if none is running`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
  try {
    return action();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryAcquire(path: string): boolean {
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
    // Another process deleted it first.
  }
}
