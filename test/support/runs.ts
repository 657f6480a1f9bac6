/**
 * Counts by test level (see scripts/test-levels.ts). A count that is too large for CI rotates by seed there.
 */
import { currentLevel, type TestLevel } from '../../scripts/test-levels.ts';

const LEVEL = currentLevel();

/** The number of runs of each property. */
export const PROPERTY_RUNS = Number(process.env.SKERRY_TEST_RUNS ?? 15);

/** True in `npm run test:full` and `npm run test:soak`. */
export const IS_FULL_RUN = LEVEL !== 'sample';

/**
 * Marks a slow test, for example a test that starts processes: `it(name, FULL_ONLY, …)`. The reporter counts
 * skips.
 */
export const FULL_ONLY = { skip: IS_FULL_RUN ? false : 'runs in npm run test:full' } as const;

export function byLevel<T>(values: Record<TestLevel, T>): T {
  return values[LEVEL];
}

/** The rotation of this run, from SKERRY_TEST_ROTATION or random. Failures print it. */
export const ROTATION = Number(process.env.SKERRY_TEST_ROTATION ?? Math.floor(Math.random() * 1_000_000));

/**
 * The runner chooses files by the remainder of this number. If items used the same remainder, a file would
 * run the same items each time. The divisor is a multiple of all those in scripts/test-files.ts.
 */
const ITEM_ROTATION = Math.floor(ROTATION / 120);

/** Returns every item of a long list in `test:full`, and every Nth item, rotating, in `npm test`. */
export function sampleOneIn<T>(all: readonly T[], every: number): readonly T[] {
  return rotate(all, { sample: every, full: 1, soak: 1 });
}

/** Returns one item in N of a long list, with N by level. The items rotate from run to run. */
export function rotate<T>(all: readonly T[], oneIn: Record<TestLevel, number>): readonly T[] {
  const every = oneIn[LEVEL];
  return all.filter((_, index) => index % every === ITEM_ROTATION % every);
}
