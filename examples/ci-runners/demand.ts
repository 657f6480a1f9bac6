/**
 * What the queue has asked for lately. A runner is paid for a month: what is wanted for a minute is not worth one, and what was
 * wanted a minute ago is not given up at once.
 */
export interface Wanted {
  /** Runners that were wanted all the time: these are worth buying. */
  readonly lasting: number;
  /** The most that were wanted at any time: these are worth keeping. */
  readonly peak: number;
}

export class Demand {
  readonly #patienceMs: number;
  #seen: { readonly atMs: number; readonly runners: number }[] = [];
  #sinceMs: number | null = null;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  note(runners: number, nowMs = Date.now()): Wanted {
    this.#sinceMs ??= nowMs;
    this.#seen = this.#seen.filter(({ atMs }) => nowMs - atMs <= this.#patienceMs);
    this.#seen.push({ atMs: nowMs, runners });
    const numbers = this.#seen.map((seen) => seen.runners);
    // Who has only just begun to look does not know yet what lasts.
    const known = nowMs - this.#sinceMs >= this.#patienceMs;
    return { lasting: known ? Math.min(...numbers) : 0, peak: Math.max(...numbers) };
  }
}
