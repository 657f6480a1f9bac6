/** How many customers are worked on at once: each has a transaction of its own. */
const CONCURRENCY = 4;

/** Works on each, several at once; returns the sum of what `work` returned. The first failure is thrown when all have ended. */
export async function sumConcurrent<T>(
  items: readonly T[],
  work: (item: T) => Promise<number>,
): Promise<number> {
  const queue = [...items];
  let total = 0;
  async function worker(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      // Not `+= await`: that would add to what was there before the wait.
      const count = await work(item);
      total += count;
    }
  }
  const results = await Promise.allSettled(Array.from({ length: CONCURRENCY }, worker));
  for (const end of results) if (end.status === 'rejected') throw end.reason;
  return total;
}
