/**
 * Token buckets (SPEC "Limits"), as one time each: when the bucket will be full again. Drawing moves it one refill
 * later; a bucket is empty when that would be more than its capacity ahead. One process keeps the times in memory;
 * several share them in the database (store/bearer.ts draws in the statement that authenticates).
 */

export interface BucketRule {
  /** Requests at once. */
  readonly capacity: number;
  readonly refillPerS: number;
}

export type BucketName = 'general' | 'provision';
export type BucketRules = Readonly<Record<BucketName, BucketRule>>;

/** What a draw came to. Times in ms since 1970. */
export interface Draw {
  readonly allowed: boolean;
  /** When the bucket is full again. */
  readonly fullAtMs: number;
  readonly nowMs: number;
}

const TOKENS_MAX = 100_000;

/** Bucket times by name, in this process's memory. */
export class MemoryBuckets {
  readonly #fullAtMs = new Map<string, number>();

  draw(name: string, rule: BucketRule, nowMs: number): Draw {
    const costMs = 1_000 / rule.refillPerS;
    const was = Math.max(this.#fullAtMs.get(name) ?? 0, nowMs);
    const next = was + costMs;
    // A hair of grace: costs of many draws may add up to a little more than they are.
    if (next - nowMs > rule.capacity * costMs + 0.001) return { allowed: false, fullAtMs: was, nowMs };
    if (this.#fullAtMs.size >= TOKENS_MAX && !this.#fullAtMs.has(name)) this.#forgetFull(nowMs);
    this.#fullAtMs.set(name, next);
    return { allowed: true, fullAtMs: next, nowMs };
  }

  /** A full bucket needs no row. */
  #forgetFull(nowMs: number): void {
    for (const [name, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(name);
  }
}
