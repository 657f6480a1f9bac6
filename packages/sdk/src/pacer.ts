/**
 * Keeps calls within the rate limit of the token (SPEC "Limits"). Nothing is delayed until the service
 * responds with 429. From then on, calls are spaced at the refill rate of the bucket, so that a hundred
 * concurrent calls all succeed.
 */
import { sleep } from './abort.ts';

/** The two rate limits: one for calls that provision, one for all others. */
export type Bucket = 'general' | 'provision';

const SPACING_MS: Readonly<Record<Bucket, number>> = { general: 1_000, provision: 300 };

export class Pacer {
  readonly #spacingMs: number;
  /** The earliest time of the next call, by `Date.now()`. */
  #nextAtMs = 0;

  constructor(bucket: Bucket) {
    this.#spacingMs = SPACING_MS[bucket];
  }

  /** The delay of a call that is made now. */
  get waitMs(): number {
    return Math.max(0, this.#nextAtMs - Date.now());
  }

  /**
   * Resolves when the call may be sent. Resolves at once if no call is waiting, and if the wait would pass
   * the deadline: then the service refuses the call, and its caller gets the error.
   */
  async acquire(deadlineMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { waitMs } = this;
    if (waitMs === 0 || Date.now() + waitMs > deadlineMs) return;
    this.#nextAtMs += this.#spacingMs;
    try {
      await sleep(waitMs, signal);
    } catch (reason) {
      // A call that was aborted gives its slot to the next one.
      this.#nextAtMs -= this.#spacingMs;
      throw reason;
    }
  }

  /** Records an empty bucket: delays the next call by at least this time. */
  backOff(retryAfterMs: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, Date.now() + retryAfterMs);
  }
}
