/** Runs the same work for many machines, a few at a time. */
const CONCURRENCY = 16;

export async function forEachConcurrent(
  ids: readonly string[],
  work: (id: string) => Promise<void>,
): Promise<void> {
  const remaining = [...ids].reverse();
  const worker = async (): Promise<void> => {
    for (let id = remaining.pop(); id !== undefined; id = remaining.pop()) await work(id);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
