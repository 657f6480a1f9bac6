/** How often each property runs. */
export const PROPERTY_RUNS = Number(process.env.SKERRY_TEST_RUNS ?? 15);

/** Whether counts that the contract names are to be full: `npm run test:full`. */
export const IS_FULL_RUN = process.env.SKERRY_TEST_FULL === '1';

/** Of a test that takes long, because it starts processes say: `it(name, IN_FULL, …)`. The reporter counts those left out. */
export const FULL_ONLY = { skip: IS_FULL_RUN ? false : 'npm run test:full has it' } as const;

/** Of a list that takes long, one in `oneIn`, others with each run; all of it in `npm run test:full`. */
export function sampleOneIn<T>(all: readonly T[], every: number): readonly T[] {
  const first = Math.floor(Math.random() * every);
  return IS_FULL_RUN ? all : all.filter((_, index) => index % every === first);
}
