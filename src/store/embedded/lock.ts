/**
 * The lock of a home: an flock on `<home>/lock`. It belongs to the open file and not to a process, so the
 * `flock` program can take it on a descriptor it inherits from us, and every program we hand that descriptor
 * to (initdb, postgres, the death watch) keeps it taken for as long as it lives. To hold the lock is
 * therefore to know that nothing of an earlier run lives, however it ended.
 *
 * The file's text says who took it, so that a second start beside a living service is refused at once while
 * one after a kill waits for the database to finish.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { tryLock } from './flock.ts';
import type { Home } from './home.ts';
import { readStartTicks } from './process.ts';

/** Another process of ours runs a database on this folder. One line: the folder, the holder and the cure. */
export class FolderInUseError extends Error {
  override name = 'FolderInUse';
}

export interface Lock {
  /** The descriptor to hand to what belongs to the database, and to nothing else. */
  readonly descriptor: number;
  release(): Promise<void>;
}

const WAIT_FOR_DEAD_OWNER_MS = 15_000;
/** A process that was killed just now still looks alive for some milliseconds. */
const KILL_GRACE_MS = 200;
const POLL_MS = 40;

/** Takes the lock. Throws FolderInUse at once when its owner lives, after 15 s when only its database does. */
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

/** The pid of the living process that holds the home, or null. */
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
        `the data folder ${home.dataDir} is in use by process ${owner}; ` +
          'stop that one first, or set SKERRY_DATA_DIR to another folder',
      );
    }
    if (waitedMs > WAIT_FOR_DEAD_OWNER_MS) {
      const [pid] = await readOwner(home);
      throw new FolderInUseError(
        `the data folder ${home.dataDir} is still in use by the database of process ${pid}, which has ended; ` +
          'wait until it has shut down and start again',
      );
    }
    await pause(POLL_MS);
  }
}

async function readOwner(home: Home): Promise<string[]> {
  const text = await readFile(home.lock, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.trim() === '' ? [] : text.trim().split(' ');
}
