/**
 * The lock of a home: an flock on `<home>/lock`. It belongs to the open file, not to a process, so the
 * `flock` program can take it on a descriptor that it inherits, and every program that inherits the
 * descriptor (initdb, postgres, the watchdog) keeps it locked until it exits. Holding the lock therefore
 * proves that no process of an earlier run is alive, however that run ended.
 *
 * The file's content names the owner, so that a second start is refused at once while a service runs, but
 * waits for the database to stop after a kill.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { undefinedIfMissing } from '../../kernel/files.ts';
import { tryLock } from './files.ts';
import type { Home } from './home.ts';
import { readStartTicks } from './process.ts';

/**
 * Another service process runs a database in this directory. One line: the directory, the owner and a remedy.
 */
export class FolderInUseError extends Error {
  override name = 'FolderInUse';
}

export interface Lock {
  /** The descriptor to pass to programs of the database, and to no others. */
  readonly descriptor: number;
  release(): Promise<void>;
}

const WAIT_FOR_DEAD_OWNER_MS = 15_000;
/** A process that was just killed still looks alive for some milliseconds. */
const KILL_GRACE_MS = 200;
const POLL_MS = 40;

/** Takes the lock. Throws FolderInUse at once while its owner runs, after 15 s if only its database does. */
export async function acquireLock(home: Home): Promise<Lock> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const file = await open(home.lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    await waitForLock(home, file);
    await file.truncate();
    await file.write(`${process.pid} ${await readStartTicks(process.pid)}\n`, 0);
  } catch (error) {
    await file.close();
    throw error;
  }
  return { descriptor: file.fd, release: () => file.truncate().finally(() => file.close()) };
}

/** Returns the pid of the running process that owns the home, or null. */
export async function findLockOwner(home: Home): Promise<number | null> {
  const [pid, startTicks] = await readOwner(home);
  return pid !== undefined && (await readStartTicks(Number(pid))) === startTicks ? Number(pid) : null;
}

async function waitForLock(home: Home, file: FileHandle): Promise<void> {
  const startMs = performance.now();
  while (!(await tryLock(file))) {
    const waitedMs = performance.now() - startMs;
    const owner = await findLockOwner(home);
    if (owner !== null && (owner === process.pid || waitedMs > KILL_GRACE_MS)) {
      throw new FolderInUseError(
        `the data directory ${home.dataDir} is in use by process ${owner}; ` +
          'stop that process first, or set SKERRY_DATA_DIR to another directory',
      );
    }
    if (waitedMs > WAIT_FOR_DEAD_OWNER_MS) {
      const [pid] = await readOwner(home);
      throw new FolderInUseError(
        `the data directory ${home.dataDir} is in use by the database of process ${pid}, which has exited; ` +
          'wait until that database has stopped, then start again',
      );
    }
    await pause(POLL_MS);
  }
}

async function readOwner(home: Home): Promise<string[]> {
  const text = (await readFile(home.lock, 'utf8').catch(undefinedIfMissing)) ?? '';
  return text.trim() === '' ? [] : text.trim().split(' ');
}
