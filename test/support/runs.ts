/** How often each property runs. */
export const RUNS = Number(process.env.SKERRY_TEST_RUNS ?? 15);
