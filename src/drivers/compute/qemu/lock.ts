/**
 * Named locks across all processes that use this folder. flock(1) holds the lock for us and releases it when
 * its standard input closes, so a killed process leaves no lock behind.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KeyedMutex } from '../../../kernel/keyed-mutex.ts';
import { ComputeError } from '../../../ports/compute.ts';
import { BARE_ENV } from './command.ts';

/** Less than the caller's own timeout, so the caller learns the reason. */
const WAIT_MAX_MS = 25_000;
/** Minimum share of that wait for a nested lock, so that slow outer work still gets a fair turn. */
const NESTED_WAIT_SHARE = 1 / 5;

/** Another holder kept the lock for longer than the caller waits. */
export class LockBusyError extends ComputeError {
  constructor() {
    super('transient', 'the machine is busy with other work');
  }
}

export class Locks {
  /** Within this process, so that only one call at a time waits for flock(1). */
  readonly #mutex = new KeyedMutex();
  readonly #waitMaxMs: number;
  /** The deadline of the outer lock: a nested lock waits no longer. */
  readonly #outerDeadline = new AsyncLocalStorage<number>();

  constructor(waitMaxMs = WAIT_MAX_MS) {
    this.#waitMaxMs = waitMaxMs;
  }

  /** Throws `LockBusyError` on timeout. The work is then never run, since the caller has already given up. */
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
