/**
 * Runs the duties: each in a loop of its own, as soon as it is woken and at the latest after the poll interval. Polling
 * is the guarantee; waking is the hurry. `settle` runs everything to rest for whoever needs to know that nothing
 * is left (the sandbox, tests); `alone` and `runDue` are for whoever moves the clock.
 */
import type { Logger } from '../kernel/logger.ts';
import type { Job } from './job.ts';

const BUSY_POLL_MS = 25;

export class JobRunner {
  readonly #jobs: readonly Job[];
  readonly #pollMs: number;
  readonly #log: Logger;
  readonly #running = new Map<Job, Promise<number>>();
  #loops: Promise<void>[] = [];
  /** Who sleeps, and for which duty: its loop, or null for a caller of `settle`. */
  readonly #waiters = new Map<() => void, Job | null>();
  #wakeCount = 0;
  /** How often a duty has done something that others may follow. */
  #workCount = 0;
  /** For how many the loops stand still. */
  #pauseCount = 0;
  #isStopped = false;

  constructor(options: { jobs: readonly Job[]; pollMs: number; log: Logger }) {
    this.#jobs = options.jobs;
    this.#pollMs = options.pollMs;
    this.#log = options.log;
  }

  start(): void {
    this.#loops = this.#jobs.map((duty) => this.#loop(duty));
  }

  /** Lets each duty finish what it holds, then returns. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.wake();
    await Promise.all([...this.#loops, ...this.#jobs.map((duty) => duty.stop?.())]);
    await Promise.allSettled(this.#running.values());
  }

  wake(): void {
    this.#wakeCount += 1;
    for (const rise of [...this.#waiters.keys()]) rise();
    for (const duty of this.#jobs) duty.wake?.();
  }

  /**
   * While `work` lasts the loops of this process stand still, so that what is done meanwhile is done by its rounds, and
   * once. It must run the duties itself.
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

  /** Runs all due work until none is left and nothing is under way, `withinMs` at most or until `stop`; says whether it rests. */
  async runUntilIdle(timeoutMs: number): Promise<boolean> {
    const deadline = Date.now() + timeoutMs;
    while (Date.now() < deadline && !this.#isStopped) {
      if (await this.runDue(deadline)) {
        const busy = await Promise.all(this.#jobs.map((duty) => duty.busy()));
        if (!busy.includes(true)) return true;
        await this.pause();
      }
    }
    return false;
  }

  /** Names of the duties that are being run, or wait for something that ends by itself; one that cannot say is one of them. */
  async busyJobNames(): Promise<string[]> {
    const busy = await Promise.all(
      this.#jobs.map(async (duty) => this.#running.has(duty) || (await duty.busy().catch(() => true))),
    );
    return this.#jobs.filter((_, index) => busy[index]).map((duty) => duty.name);
  }

  /**
   * Runs what is due now until each duty has found nothing since the last one found something; false when the
   * deadline came first. `passing`: without housekeeping.
   */
  async runDue(deadline: number, { passing: skipHousekeeping = false } = {}): Promise<boolean> {
    const jobs = skipHousekeeping ? this.#jobs.filter((duty) => !duty.housekeeping) : this.#jobs;
    let idleCount = 0;
    while (idleCount < jobs.length) {
      for (const duty of jobs) {
        if (Date.now() >= deadline || this.#isStopped) return false;
        idleCount = (await this.#runOnce(duty)) === 0 ? idleCount + 1 : 0;
        if (idleCount === jobs.length) break;
      }
    }
    return true;
  }

  /** Once nothing is due: the earliest planned work, or null, and whether something is in flight that holds the clock. */
  async nextPlannedWork(): Promise<{ readonly dueAt: Date | null; readonly isClockBlocked: boolean }> {
    const clockBlockers = this.#jobs.filter((duty) => duty.blocksClock);
    const [dueAt, ...busy] = await Promise.all([this.nextDue(), ...clockBlockers.map((duty) => duty.busy())]);
    return { dueAt, isClockBlocked: busy.includes(true) };
  }

  /** The earliest planned work, or null. */
  async nextDue(): Promise<Date | null> {
    const all = await Promise.all(this.#jobs.map((duty) => duty.nextDue()));
    const times = all.filter((time) => time !== null).map((time) => time.getTime());
    return times.length > 0 ? new Date(Math.min(...times)) : null;
  }

  /** Lets what is under way get on for a moment. */
  async pause(): Promise<void> {
    await this.#sleep(BUSY_POLL_MS);
  }

  async #loop(duty: Job): Promise<void> {
    while (!this.#isStopped) {
      if (this.#pauseCount > 0) {
        await this.#sleep(this.#pollMs);
        continue;
      }
      const seen = this.#signalCount(duty);
      const did = await this.#runOnce(duty);
      if (did > 0 && !duty.follows) this.#wakeFollowers();
      // What it was woken for while it looked may have come too late for this look.
      if (did === 0 && seen === this.#signalCount(duty) && !this.#isStopped)
        await this.#sleep(this.#pollMs, duty);
    }
  }

  #signalCount(duty: Job): number {
    return this.#wakeCount + (duty.follows ? this.#workCount : 0);
  }

  #wakeFollowers(): void {
    this.#workCount += 1;
    for (const [rise, duty] of [...this.#waiters]) if (duty?.follows) rise();
  }

  /** One run, never two of the same duty at a time in this process; a failure is logged and counts as rest. */
  async #runOnce(duty: Job): Promise<number> {
    for (let other = this.#running.get(duty); other; other = this.#running.get(duty)) await other;
    const run = duty.run().catch((error: unknown) => {
      if (!this.#isStopped) this.#log.error({ err: error, duty: duty.name }, 'duty failed');
      return 0;
    });
    this.#running.set(duty, run);
    try {
      return await run;
    } finally {
      this.#running.delete(duty);
    }
  }

  async #sleep(ms: number, duty: Job | null = null): Promise<void> {
    await new Promise<void>((resolve) => {
      const rise = () => {
        clearTimeout(timer);
        this.#waiters.delete(rise);
        resolve();
      };
      const timer = setTimeout(rise, ms);
      this.#waiters.set(rise, duty);
    });
  }
}
