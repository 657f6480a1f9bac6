/**
 * That a node may be used, as a driver knows it: proven before its first use, and again from time to time, for a node may be
 * exchanged or its wallet unlocked while the service runs. Who comes while it is being proven waits for the same answer. A proof
 * that fails holds for nobody later: the next one asks again.
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

  /** Throws what the proof throws. */
  async ensure(): Promise<void> {
    if (performance.now() - this.#passedAtMs >= this.#validMs) await this.rerun();
  }

  /** Proves anew, whatever was proven before. */
  async rerun(): Promise<void> {
    this.#running ??= this.#runCheck();
    await this.#running;
  }

  async #runCheck(): Promise<void> {
    this.#passedAtMs = Number.NEGATIVE_INFINITY;
    // It is as old as its question, not as its answer.
    const startedAtMs = performance.now();
    try {
      await this.#check();
      this.#passedAtMs = startedAtMs;
    } finally {
      this.#running = null;
    }
  }
}
