/** Test levels: `npm test`, `npm run test:full`, `npm run test:soak`. CONTRIBUTING.md describes them. */

export const TEST_LEVELS = ['sample', 'full', 'soak'] as const;
export type TestLevel = (typeof TEST_LEVELS)[number];

export interface LevelLimits {
  /** Processes at once. The samples often wait for a state, so two cores have time for a third. */
  readonly processes: number;
  /** Runs of each property, unless SKERRY_TEST_RUNS is set. */
  readonly propertyRuns: number;
  /** A test that takes longer fails by name. */
  readonly testMaxS: number;
  /** A process that blocks, so that no test in it can time out, is killed after this time. */
  readonly processMaxS: number;
  /** All tests stop after this time. */
  readonly totalMaxS: number;
}

const MINUTE_S = 60;

export const LEVEL_LIMITS: Record<TestLevel, LevelLimits> = {
  sample: {
    processes: 3,
    propertyRuns: 20,
    testMaxS: 4 * MINUTE_S,
    processMaxS: 8 * MINUTE_S,
    totalMaxS: 28 * MINUTE_S,
  },
  full: {
    processes: 2,
    propertyRuns: 40,
    testMaxS: 10 * MINUTE_S,
    processMaxS: 25 * MINUTE_S,
    totalMaxS: 65 * MINUTE_S,
  },
  soak: {
    processes: 2,
    propertyRuns: 200,
    testMaxS: 220 * MINUTE_S,
    processMaxS: 230 * MINUTE_S,
    totalMaxS: 240 * MINUTE_S,
  },
};

/** The level from the environment of a test process. */
export function currentLevel(): TestLevel {
  return TEST_LEVELS.find((level) => level === process.env.SKERRY_TEST_LEVEL) ?? 'sample';
}
