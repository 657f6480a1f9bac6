/** Numbers that follow from a seed. */

/** SplitMix32: every seed gives a sequence of its own, and neighbors differ from the first number on. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  fill(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) bytes[index] = this.below(256);
  }
}

/** Chooses which of the tasks that can go on does so. */
export interface Strategy {
  /** `runnable` has the number of each task, in order. Returns one of them. */
  pick(runnable: readonly number[]): number;
}

/** Every step goes to any task with the same probability. */
function randomWalk(random: Random): Strategy {
  return { pick: (runnable) => runnable[random.below(runnable.length)] ?? 0 };
}

/**
 * Probabilistic concurrency testing: the task with the highest priority goes on until it cannot, except at a
 * few random steps, where its priority becomes the lowest. A fault that needs d such switches is found with a
 * probability that depends on d and not on the number of interleavings.
 */
function bySwitches(random: Random, switches: number, stepsExpected: number): Strategy {
  const priorities = new Map<number, number>();
  const switchAt = new Set(Array.from({ length: switches }, () => random.below(stepsExpected)));
  const priority = (task: number): number => {
    const known = priorities.get(task) ?? random.next();
    priorities.set(task, known);
    return known;
  };
  let [step, lowest] = [0, 0];
  return {
    pick: (runnable) => {
      const highest = () => runnable.reduce((best, task) => (priority(task) > priority(best) ? task : best));
      if (switchAt.has(step++)) priorities.set(highest(), --lowest);
      return highest();
    },
  };
}

/** Steps of a task that is neither short nor long. */
const STEPS_EXPECTED = 24;

/** One interleaving in three is a random walk. The others have one to four switches. */
export function strategyOf(random: Random, tasks: number): Strategy {
  const kind = random.below(6);
  return kind < 2 ? randomWalk(random) : bySwitches(random, kind - 1, STEPS_EXPECTED * tasks);
}
