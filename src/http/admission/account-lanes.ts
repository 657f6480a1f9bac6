/**
 * Runs the attempts on one account one after another, so that a burst cannot outrun its budget, and so that a
 * flood on one account leaves the others their turn. In this process's memory: with several processes, the
 * budget of the account, which they share, bounds the flood.
 */
import { fail } from '../../kernel/fail.ts';
import { KeyedMutex } from '../../kernel/keyed-mutex.ts';

/** Attempts in one lane, with the running one. The last waits about two seconds. */
const LANE_MAX = 32;
const RETRY_AFTER_S = 2;

export class AccountLanes {
  readonly #mutex = new KeyedMutex();
  readonly #counts = new Map<string, number>();

  /** Fails with `rate_limited` if too many attempts wait in the lane. */
  async run<T>(lane: string, attempt: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(lane) ?? 0;
    if (count >= LANE_MAX) fail('rate_limited', { retry_after_s: RETRY_AFTER_S });
    this.#counts.set(lane, count + 1);
    try {
      return await this.#mutex.runExclusive(lane, attempt);
    } finally {
      const left = (this.#counts.get(lane) ?? 1) - 1;
      if (left === 0) this.#counts.delete(lane);
      else this.#counts.set(lane, left);
    }
  }
}
