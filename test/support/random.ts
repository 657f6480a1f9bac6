/** Random numbers that a seed repeats. */
import { createHash } from 'node:crypto';

/** Numbers that depend only on the seed. */
export class Random {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Returns a whole number from 0 to `end` - 1. */
  below(end: number): number {
    this.#count += 1;
    return createHash('sha256').update(`${this.#seed} ${this.#count}`).digest().readUInt32BE() % end;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  shuffle<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: this.below(2 ** 32) }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}
