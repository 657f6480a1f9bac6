/**
 * One at a time for each name, in all processes that drive this folder. flock(1) holds the lock for us and lets go when
 * its standard input ends, so a process that is killed leaves none behind.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KeyedMutex } from '../../../kernel/keyed-mutex.ts';
import { ComputeError } from '../../../ports/compute.ts';
import { BARE_ENV } from './command.ts';

/** Less than a caller waits for its answer, so that he hears why. */
const WAIT_MAX_MS = 25_000;
/** Of that, what is left at least for a lock that is taken within another: work that took long has a fair turn, too. */
const NESTED_WAIT_SHARE = 1 / 5;

/** Others held the lock for longer than a caller waits. */
export class LockBusyError extends ComputeError {
  constructor() {
    super('transient', 'the machine is busy with other work');
  }
}

export class Locks {
  /** Within this process, so that only one of its calls waits for flock(1). */
  readonly #mutex = new KeyedMutex();
  readonly #waitMaxMs: number;
  /** When the caller of a lock that is held stops waiting: what is taken within it is waited for no longer. */
  readonly #outerDeadline = new AsyncLocalStorage<number>();

  constructor(waitMaxMs = WAIT_MAX_MS) {
    this.#waitMaxMs = waitMaxMs;
  }

  /** `Busy` when its turn does not come in time; then the work is not done later either: the caller has gone. */
  async withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
    const waitMs = this.#waitMs();
    const deadline = performance.now() + waitMs;
    const timeout = Promise.withResolvers<never>();
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      timeout.reject(new LockBusyError());
    }, waitMs);
    const locked = this.#mutex.runExclusive(path, async () => {
      clearTimeout(timer);
      const remainingMs = deadline - performance.now();
      if (isTimedOut || remainingMs <= 0) throw new LockBusyError();
      const release = await acquire(path, remainingMs);
      try {
        return await this.#outerDeadline.run(this.#outerDeadline.getStore() ?? deadline, work);
      } finally {
        release();
      }
    });
    return await Promise.race([locked, timeout.promise]);
  }

  #waitMs(): number {
    const outerDeadline = this.#outerDeadline.getStore();
    if (outerDeadline === undefined) return this.#waitMaxMs;
    return Math.max(outerDeadline - performance.now(), this.#waitMaxMs * NESTED_WAIT_SHARE);
  }
}

async function acquire(path: string, timeoutMs: number): Promise<() => void> {
  await mkdir(dirname(path), { recursive: true });
  const args = ['--exclusive', '--wait', (timeoutMs / 1000).toFixed(3), path, 'sh', '-c', 'echo; read end'];
  const flock = spawn('flock', args, { stdio: ['pipe', 'pipe', 'ignore'], env: BARE_ENV });
  flock.stdin.on('error', () => undefined);
  const ended = once(flock, 'exit').then(() => 'ended' as const);
  const acquired = once(flock.stdout, 'data').then(() => 'held' as const);
  const first = await Promise.race([acquired, ended]).catch(() => 'ended' as const);
  if (first === 'held') return () => flock.stdin.end();
  throw new LockBusyError();
}
