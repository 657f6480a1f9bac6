/**
 * One at a time for each name, in all processes that drive this folder. flock(1) holds the lock for us and lets go when
 * its standard input ends, so a process that is killed leaves none behind.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Turns } from '../../../kernel/turns.ts';
import { ComputeError } from '../../../ports/compute.ts';
import { BARE_ENV } from './command.ts';

/** Less than a caller waits for its answer, so that he hears why. */
const WAIT_MAX_MS = 25_000;
/** Of that, what is left at least for a lock that is taken within another: work that took long has a fair turn, too. */
const WITHIN_PART = 1 / 5;

/** Others held the lock for longer than a caller waits. */
export class Busy extends ComputeError {
  constructor() {
    super('transient', 'the machine is busy with other work');
  }
}

export class Locks {
  /** Within this process, so that only one of its calls waits for flock(1). */
  readonly #turns = new Turns();
  readonly #waitMaxMs: number;
  /** When the caller of a lock that is held stops waiting: what is taken within it is waited for no longer. */
  readonly #outer = new AsyncLocalStorage<number>();

  constructor(waitMaxMs = WAIT_MAX_MS) {
    this.#waitMaxMs = waitMaxMs;
  }

  /** `Busy` when its turn does not come in time; then the work is not done later either: the caller has gone. */
  async alone<T>(path: string, work: () => Promise<T>): Promise<T> {
    const waitMs = this.#waitMs();
    const until = performance.now() + waitMs;
    const late = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      late.reject(new Busy());
    }, waitMs);
    const mine = this.#turns.take(path, async () => {
      clearTimeout(timer);
      const leftMs = until - performance.now();
      if (isLate || leftMs <= 0) throw new Busy();
      const release = await take(path, leftMs);
      try {
        return await this.#outer.run(this.#outer.getStore() ?? until, work);
      } finally {
        release();
      }
    });
    return await Promise.race([mine, late.promise]);
  }

  #waitMs(): number {
    const outer = this.#outer.getStore();
    if (outer === undefined) return this.#waitMaxMs;
    return Math.max(outer - performance.now(), this.#waitMaxMs * WITHIN_PART);
  }
}

async function take(path: string, withinMs: number): Promise<() => void> {
  await mkdir(dirname(path), { recursive: true });
  const args = ['--exclusive', '--wait', (withinMs / 1000).toFixed(3), path, 'sh', '-c', 'echo; read end'];
  const holder = spawn('flock', args, { stdio: ['pipe', 'pipe', 'ignore'], env: BARE_ENV });
  holder.stdin.on('error', () => undefined);
  const ended = once(holder, 'exit').then(() => 'ended' as const);
  const held = once(holder.stdout, 'data').then(() => 'held' as const);
  const first = await Promise.race([held, ended]).catch(() => 'ended' as const);
  if (first === 'held') return () => holder.stdin.end();
  throw new Busy();
}
