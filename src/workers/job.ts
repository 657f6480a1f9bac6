/** Background jobs. */

/** A background job. The runner calls `run` repeatedly; any number of processes may do so concurrently. */
export interface Job {
  readonly name: string;
  /**
   * Does due work in bounded batches. Returns how much was done or is in progress elsewhere; 0 means idle.
   */
  run(): Promise<number>;
  /** When work is due next on the business clock, or null if none is planned. */
  nextDue(): Promise<Date | null>;
  /**
   * Nothing depends on it in time: a clock that jumps past due dates runs it on arrival, not at each date.
   */
  readonly housekeeping?: true;
  /**
   * Its work in progress is answered in real time from outside: a moving clock waits for it at each due date.
   */
  readonly blocksClock?: true;
  /** Whether work is in progress that finishes on its own within seconds, such as an install. */
  busy(): Promise<boolean>;
  /** It also runs while a restored database waits for `skerryd recover`. */
  readonly inRecovery?: true;
  /** It runs at least this often, also with a longer poll interval. */
  readonly atLeastEveryMs?: number;
  /** It may have work after other jobs have worked: it runs then, too. */
  readonly follows?: true;
  /** Signals that more work may be due, even while a run waits for something else. */
  wake?(): void;
  /** Ends background work within a few seconds when the service stops. */
  stop?(): Promise<void>;
}

/** Runs the work at most once per interval in this process, by real time. */
export function atMostEvery(
  everyMs: number,
  work: () => Promise<void>,
  { startsAtOnce = true } = {},
): () => Promise<void> {
  let nextAt = startsAtOnce ? Number.NEGATIVE_INFINITY : performance.now() + everyMs;
  return async () => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + everyMs;
    await work();
  };
}

/** A job that nothing waits for: it plans no due dates and is never busy. */
export function housekeepingJob(name: string, run: () => Promise<number>): Job {
  return { name, housekeeping: true, run, nextDue: async () => null, busy: async () => false };
}
