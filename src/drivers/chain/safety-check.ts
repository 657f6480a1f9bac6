/**
 * Caches a driver's proof that its node is safe to use. The check runs before the first use and again from
 * time to time, because a node may be replaced or its wallet unlocked while the service runs. Concurrent
 * callers share one check. A failed check is not cached: the next caller runs it again.
 */
const VALID_MS = 10 * 60_000;

export class SafetyCheck {
  readonly #check: () => Promise<void>;
  readonly #validMs: number;
  #running: Promise<void> | null = null;
  #passedAtMs = Number.NEGATIVE_INFINITY;

  constructor(checkSafety: () => Promise<void>, options: { readonly validMs?: number } = {}) {
    this.#check = checkSafety;
    this.#validMs = options.validMs ?? VALID_MS;
  }

  /** Throws the check's error. */
  async ensure(): Promise<void> {
    if (performance.now() - this.#passedAtMs >= this.#validMs) await this.rerun();
  }

  /** Runs the check again, even if it passed before. */
  async rerun(): Promise<void> {
    this.#running ??= this.#runCheck();
    await this.#running;
  }

  async #runCheck(): Promise<void> {
    this.#passedAtMs = Number.NEGATIVE_INFINITY;
    // The result is as old as its start.
    const startedAtMs = performance.now();
    try {
      await this.#check();
      this.#passedAtMs = startedAtMs;
    } finally {
      this.#running = null;
    }
  }
}
