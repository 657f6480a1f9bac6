/** Customers processed at once, each in its own transaction. */
const CONCURRENCY = 4;

/**
 * Runs `work` on all items with bounded concurrency and returns the sum. Throws the first error after all
 * have ended.
 */
export async function sumConcurrent<T>(
  items: readonly T[],
  work: (item: T) => Promise<number>,
): Promise<number> {
  const queue = [...items];
  let total = 0;
  async function worker(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      // Not `total += await`, which reads `total` before the wait.
      const count = await work(item);
      total += count;
    }
  }
  const results = await Promise.allSettled(Array.from({ length: CONCURRENCY }, worker));
  for (const end of results) if (end.status === 'rejected') throw end.reason;
  return total;
}
