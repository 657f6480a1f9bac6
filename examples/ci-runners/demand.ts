/**
 * What the queue has asked for lately. A runner is paid for a month: what is wanted for a minute is not worth one, and what was
 * wanted a minute ago is not given up at once.
 */
export interface RunnerDemand {
  /** Runners that were wanted all the time: these are worth buying. */
  readonly sustained: number;
  /** The most that were wanted at any time: these are worth keeping. */
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
    // Who has only just begun to look does not know yet what lasts.
    const isWindowFull = nowMs - this.#startedAtMs >= this.#windowMs;
    return { sustained: isWindowFull ? Math.min(...numbers) : 0, peak: Math.max(...numbers) };
  }
}
