/** The seed of a property's scripts. Every run prints it; SKERRY_TEST_SEED repeats a run. */
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';

export interface SeededRuns {
  readonly numRuns: number;
  readonly seed: number;
}

/** Returns the parameters for `fc.assert`. */
export function seededRuns(t: TestContext, numRuns: number): SeededRuns {
  const seed = seedFromEnv() ?? randomInt(2 ** 31);
  t.diagnostic(`${numRuns} scripts, seed ${seed}`);
  return { numRuns, seed };
}

function seedFromEnv(): number | undefined {
  const text = process.env.SKERRY_TEST_SEED;
  if (text === undefined || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw new Error('SKERRY_TEST_SEED is not an integer');
  return Number(text);
}
