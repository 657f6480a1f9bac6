/**
 * That a node may be used, as a driver knows it: proven before its first use, and again from time to time, for a node may be
 * exchanged or its wallet unlocked while the service runs. Who comes while it is being proven waits for the same answer. A proof
 * that fails holds for nobody later: the next one asks again.
 */
const HOLDS_MS = 10 * 60_000;

export class Proof {
  readonly #prove: () => Promise<void>;
  readonly #holdsMs: number;
  #running: Promise<void> | null = null;
  #provenAtMs = Number.NEGATIVE_INFINITY;

  constructor(prove: () => Promise<void>, options: { readonly holdsMs?: number } = {}) {
    this.#prove = prove;
    this.#holdsMs = options.holdsMs ?? HOLDS_MS;
  }

  /** Throws what the proof throws. */
  async ensure(): Promise<void> {
    if (performance.now() - this.#provenAtMs >= this.#holdsMs) await this.renew();
  }

  /** Proves anew, whatever was proven before. */
  async renew(): Promise<void> {
    this.#running ??= this.#run();
    await this.#running;
  }

  async #run(): Promise<void> {
    this.#provenAtMs = Number.NEGATIVE_INFINITY;
    // It is as old as its question, not as its answer.
    const askedAtMs = performance.now();
    try {
      await this.#prove();
      this.#provenAtMs = askedAtMs;
    } finally {
      this.#running = null;
    }
  }
}
