/** How often each property runs. */
export const RUNS = Number(process.env.SKERRY_TEST_RUNS ?? 15);

/** Whether counts that the contract names are to be full: `npm run test:full`. */
export const FULL = process.env.SKERRY_TEST_FULL === '1';
