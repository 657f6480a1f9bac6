/**
 * Keeps calls within the rate that the service gives a token (SPEC "Limits"). Nothing is held back until the service says 429;
 * from then on calls take turns as far apart as the bucket refills, so that a hundred at once all come through, one after the other.
 */
import { sleep } from './sleep.ts';

/** Two buckets: one for what provisions, one for all else. */
export type Bucket = 'general' | 'provision';

const SPACING_MS: Readonly<Record<Bucket, number>> = { general: 1_000, provision: 300 };

export class Pacer {
  readonly #spacingMs: number;
  /** When the next turn is, by `Date.now()`. */
  #nextAtMs = 0;

  constructor(bucket: Bucket) {
    this.#spacingMs = SPACING_MS[bucket];
  }

  /** How long a call that came now would wait. */
  get waitMs(): number {
    return Math.max(0, this.#nextAtMs - Date.now());
  }

  /**
   * Resolves when it is this call's turn: at once while nobody waits. At once as well when its turn would come too late: then the
   * service says no, and its caller learns it.
   */
  async acquire(deadlineMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { waitMs } = this;
    if (waitMs === 0 || Date.now() + waitMs > deadlineMs) return;
    this.#nextAtMs += this.#spacingMs;
    try {
      await sleep(waitMs, signal);
    } catch (reason) {
      // Who leaves the line does not hold up those who come after.
      this.#nextAtMs -= this.#spacingMs;
      throw reason;
    }
  }

  /** The bucket is empty: the next turn comes no earlier than that. */
  backOff(retryAfterMs: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, Date.now() + retryAfterMs);
  }
}
