/**
 * Runs the jobs, each in its own loop: as soon as it is woken, and at the latest after the poll interval.
 * Polling is the guarantee, waking only makes it faster. `runUntilIdle` runs everything until nothing is left
 * (for the sandbox and tests); `runExclusively` and `runDue` are for callers that move the clock.
 */
import { BACKOFF, backoffMs } from '../kernel/backoff.ts';
import { logFault } from '../kernel/faults/fault-log.ts';
import type { Logger } from '../kernel/logger.ts';
import { isUnavailable } from '../store/connections/errors.ts';
import type { Job } from './job.ts';

const BUSY_POLL_MS = 25;

export class JobRunner {
  readonly #jobs: readonly Job[];
  readonly #pollMs: number;
  readonly #log: Logger;
  readonly #running = new Map<Job, Promise<number>>();
  /** Consecutive failures. */
  readonly #failures = new Map<Job, number>();
  #loops: Promise<void>[] = [];
  /** Sleepers and their jobs: a loop has its job, a caller of `runUntilIdle` has null. */
  readonly #waiters = new Map<() => void, Job | null>();
  #wakeCount = 0;
  /** How often a job has done work that others may follow. */
  #workCount = 0;
  /** Number of `runExclusively` calls in progress; the loops pause while there are any. */
  #pauseCount = 0;
  #isStopped = false;

  constructor(options: { jobs: readonly Job[]; pollMs: number; log: Logger }) {
    this.#jobs = options.jobs;
    this.#pollMs = options.pollMs;
    this.#log = options.log;
  }

  start(): void {
    this.#loops = this.#jobs.map((job) => this.#loop(job));
  }

  /** Lets each job finish its current work, then resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.wake();
    await Promise.all([...this.#loops, ...this.#jobs.map((job) => job.stop?.())]);
    await Promise.allSettled(this.#running.values());
  }

  wake(): void {
    this.#wakeCount += 1;
    for (const wakeUp of [...this.#waiters.keys()]) wakeUp();
    for (const job of this.#jobs) job.wake?.();
  }

  /**
   * Pauses the loops of this process during `work`, which runs the jobs itself, so that it alone decides when
   * each one runs.
   */
  async runExclusively<T>(work: () => Promise<T>): Promise<T> {
    this.#pauseCount += 1;
    try {
      return await work();
    } finally {
      this.#pauseCount -= 1;
      this.wake();
    }
  }

  /** Runs due work until nothing is left or in progress, a timeout, or `stop`; returns whether it is idle. */
  async runUntilIdle(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (performance.now() < deadline && !this.#isStopped) {
      if (await this.runDue(deadline)) {
        const busy = await Promise.all(this.#jobs.map((job) => job.busy()));
        if (!busy.includes(true)) return true;
        await this.pause();
      }
    }
    return false;
  }

  /** Returns the names of jobs that are running or busy, or whose state cannot be read. */
  async busyJobNames(): Promise<string[]> {
    const busy = await Promise.all(
      this.#jobs.map(async (job) => this.#running.has(job) || (await job.busy().catch(() => true))),
    );
    return this.#jobs.filter((_, index) => busy[index]).map((job) => job.name);
  }

  /** Runs due work until every job has found nothing since the last work; false at the deadline. */
  async runDue(deadline: number, { skipHousekeeping = false } = {}): Promise<boolean> {
    const jobs = skipHousekeeping ? this.#jobs.filter((job) => !job.housekeeping) : this.#jobs;
    let idleCount = 0;
    while (idleCount < jobs.length) {
      for (const job of jobs) {
        if (performance.now() >= deadline || this.#isStopped) return false;
        idleCount = (await this.#runOnce(job)) === 0 ? idleCount + 1 : 0;
        if (idleCount === jobs.length) break;
      }
    }
    return true;
  }

  /** Call it when idle. Returns the earliest planned work, and whether work in progress blocks the clock. */
  async nextPlannedWork(): Promise<{ readonly dueAt: Date | null; readonly isClockBlocked: boolean }> {
    const clockBlockers = this.#jobs.filter((job) => job.blocksClock);
    const [dueAt, ...busy] = await Promise.all([this.nextDue(), ...clockBlockers.map((job) => job.busy())]);
    return { dueAt, isClockBlocked: busy.includes(true) };
  }

  /** Returns when the earliest planned work is due, or null. */
  async nextDue(): Promise<Date | null> {
    const all = await Promise.all(this.#jobs.map((job) => job.nextDue()));
    const times = all.filter((time) => time !== null).map((time) => time.getTime());
    return times.length > 0 ? new Date(Math.min(...times)) : null;
  }

  /** Gives work in progress a moment. */
  async pause(): Promise<void> {
    await this.#sleep(BUSY_POLL_MS);
  }

  async #loop(job: Job): Promise<void> {
    while (!this.#isStopped) {
      if (this.#pauseCount > 0) {
        await this.#sleep(this.#pollMs);
        continue;
      }
      const seen = this.#signalCount(job);
      const failedBefore = this.#failures.get(job) ?? 0;
      const did = await this.#runOnce(job);
      const failures = this.#failures.get(job) ?? 0;
      if (failures === failedBefore) this.#failures.delete(job);
      else await this.#backOff(failures);
      if (did > 0 && !job.follows) this.#wakeFollowers();
      // A signal during the run may have come too late for it: run again.
      if (did === 0 && seen === this.#signalCount(job) && !this.#isStopped)
        await this.#sleep(Math.min(this.#pollMs, job.atLeastEveryMs ?? this.#pollMs), job);
    }
  }

  /** After the second failure in a row, signals don't shorten the wait. */
  async #backOff(failures: number): Promise<void> {
    if (failures < 2) return;
    const until = performance.now() + backoffMs(BACKOFF.job, failures - 1);
    for (let leftMs = 1; leftMs > 0 && !this.#isStopped; leftMs = until - performance.now()) {
      await this.#sleep(Math.max(until - performance.now(), 1));
    }
  }

  #signalCount(job: Job): number {
    return this.#wakeCount + (job.follows ? this.#workCount : 0);
  }

  #wakeFollowers(): void {
    this.#workCount += 1;
    for (const [wakeUp, job] of [...this.#waiters]) if (job?.follows) wakeUp();
  }

  /** Runs a job once, never twice at a time in this process; logs a failure and counts it as idle. */
  async #runOnce(job: Job): Promise<number> {
    for (let other = this.#running.get(job); other; other = this.#running.get(job)) await other;
    const run = job.run().catch((error: unknown) => {
      // An outage of the database fails all jobs, so it is one fault.
      const fields = { err: error, job: job.name, place: isUnavailable(error) ? 'database' : job.name };
      if (!this.#isStopped) logFault(this.#log, 'error', 'job failed', fields);
      this.#failures.set(job, (this.#failures.get(job) ?? 0) + 1);
      return 0;
    });
    this.#running.set(job, run);
    try {
      return await run;
    } finally {
      this.#running.delete(job);
    }
  }

  async #sleep(ms: number, job: Job | null = null): Promise<void> {
    await new Promise<void>((resolve) => {
      const wakeUp = () => {
        clearTimeout(timer);
        this.#waiters.delete(wakeUp);
        resolve();
      };
      const timer = setTimeout(wakeUp, ms);
      this.#waiters.set(wakeUp, job);
    });
  }
}
