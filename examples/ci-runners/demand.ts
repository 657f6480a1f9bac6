/**
 * Recent demand of the queue. A runner is paid for a month, so a demand of one minute does not justify a new
 * one, and a runner that was needed a minute ago is kept.
 */
export interface RunnerDemand {
  /** Runners needed during the whole window: worth buying. */
  readonly sustained: number;
  /** Most runners needed at any time in the window: worth keeping. */
  readonly peak: number;
}

export class Demand {
  readonly #windowMs: number;
  #samples: { readonly atMs: number; readonly runners: number }[] = [];
  #startedAtMs: number | null = null;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  record(runners: number, nowMs = Date.now()): RunnerDemand {
    this.#startedAtMs ??= nowMs;
    this.#samples = this.#samples.filter(({ atMs }) => nowMs - atMs <= this.#windowMs);
    this.#samples.push({ atMs: nowMs, runners });
    const numbers = this.#samples.map((seen) => seen.runners);
    // A window that is not complete yet says nothing about lasting demand.
    const complete = nowMs - this.#startedAtMs >= this.#windowMs;
    return { sustained: complete ? Math.min(...numbers) : 0, peak: Math.max(...numbers) };
  }
}
