/** The seed of a property's scripts: told with each run, and taken from SKERRY_TEST_SEED to run the same ones once more. */
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';

export interface SeededRuns {
  readonly numRuns: number;
  readonly seed: number;
}

/** For `fc.assert`. */
export function seededRuns(t: TestContext, numRuns: number): SeededRuns {
  const seed = seedFromEnv() ?? randomInt(2 ** 31);
  t.diagnostic(`${numRuns} scripts, seed ${seed}`);
  return { numRuns, seed };
}

function seedFromEnv(): number | undefined {
  const text = process.env.SKERRY_TEST_SEED;
  if (text === undefined || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw new Error('SKERRY_TEST_SEED is no whole number');
  return Number(text);
}
