import { setTimeout as pause } from 'node:timers/promises';

/** Limit of concurrent batches, and how soon another one starts next to slow ones. */
const CONCURRENT_BATCHES_MAX = 4;
const START_ANOTHER_AFTER_MS = 250;

/**
 * Works on a batch and starts more next to it while it lasts, so that a slow host delays little besides its
 * own work. Returns when all batches have ended, so that none outlives the service.
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
