/**
 * Token buckets (SPEC "Limits"), each stored as a single time: when the bucket will be full. A draw moves
 * it one refill later, and fails if that is more than the capacity ahead. A single process keeps the times
 * in memory; several share them in the database (store/customers/tokens.ts draws in the statement that
 * authenticates).
 */

export interface BucketRule {
  /** The size of a burst. */
  readonly capacity: number;
  readonly refillPerS: number;
}

export type BucketName = 'general' | 'provision';
export type BucketRules = Readonly<Record<BucketName, BucketRule>>;

/** The result of a draw. Times are in ms since 1970. */
export interface Draw {
  readonly allowed: boolean;
  /** When the bucket is full again. */
  readonly fullAtMs: number;
  readonly nowMs: number;
}

/** Returns the cost of a draw in whole microseconds, like the database, so that many draws add up exactly. */
export function costMs({ refillPerS }: BucketRule): number {
  return Math.max(Math.round(1_000_000 / refillPerS), 1) / 1_000;
}

const BUCKETS_MAX = 100_000;

/** Bucket times by name, in this process's memory. */
export class MemoryBuckets {
  /** In whole microseconds, which add up exactly. */
  readonly #fullAtUs = new Map<string, number>();

  draw(name: string, rule: BucketRule, nowMs: number): Draw {
    const costUs = Math.round(costMs(rule) * 1_000);
    const nowUs = Math.round(nowMs * 1_000);
    const storedUs = this.#fullAtUs.get(name) ?? 0;
    // Far later than an empty bucket is full again: the clock of the machine was set back.
    const isPossible = storedUs <= nowUs + 2 * rule.capacity * costUs;
    const currentFullAtUs = isPossible ? Math.max(storedUs, nowUs) : nowUs;
    const next = currentFullAtUs + costUs;
    if (next - nowUs > rule.capacity * costUs)
      return { allowed: false, fullAtMs: currentFullAtUs / 1_000, nowMs };
    if (this.#fullAtUs.size >= BUCKETS_MAX && !this.#fullAtUs.has(name)) this.#evictFull(nowUs);
    this.#fullAtUs.set(name, next);
    return { allowed: true, fullAtMs: next / 1_000, nowMs };
  }

  /** Full buckets need no entry. */
  #evictFull(nowUs: number): void {
    for (const [name, fullAtUs] of this.#fullAtUs) if (fullAtUs <= nowUs) this.#fullAtUs.delete(name);
  }
}
