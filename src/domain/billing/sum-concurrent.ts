import { pMapSettled } from 'p-map';

/** Customers processed at once, each in its own transaction. */
const CONCURRENCY = 4;

/** Runs `work` on all items and returns the sum. Throws the first error after all have ended. */
export async function sumConcurrent<T>(
  items: readonly T[],
  work: (item: T) => Promise<number>,
): Promise<number> {
  let total = 0;
  for (const result of await pMapSettled(items, work, { concurrency: CONCURRENCY })) {
    if (result.status === 'rejected') throw result.reason;
    total += result.value;
  }
  return total;
}
