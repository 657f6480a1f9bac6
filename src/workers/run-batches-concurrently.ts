import { setTimeout as pause } from 'node:timers/promises';

/** Batches at once, and how soon another one begins beside those that take long. */
const CONCURRENT_BATCHES_MAX = 4;
const START_ANOTHER_AFTER_MS = 250;

/**
 * Works on a batch, and for as long as that takes begins others beside it: a host that is slow to answer holds up
 * little but what is on it. All of them have ended when it returns, so that nothing outlives the service.
 */
export async function runBatchesConcurrently(batch: () => Promise<number>): Promise<number> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let processed = 0;
  function startBatch(): Promise<void> {
    const work = batch()
      .then(
        (count) => {
          processed += count;
        },
        (error: unknown) => {
          failures.push(error);
        },
      )
      .finally(() => running.delete(work));
    running.add(work);
    return work;
  }
  const first = startBatch();
  while (running.has(first)) {
    await Promise.race([first, pause(START_ANOTHER_AFTER_MS, undefined, { ref: false })]);
    if (running.has(first) && running.size < CONCURRENT_BATCHES_MAX) startBatch();
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  return processed;
}
