import { setTimeout as pause } from 'node:timers/promises';

/** Batches at once, and how soon another one begins beside those that take long. */
const BATCHES_MAX = 4;
const BESIDE_MS = 250;

/**
 * Works on a batch, and for as long as that takes begins others beside it: a host that is slow to answer holds up
 * little but what is on it. All of them have ended when it returns, so that nothing outlives the service.
 */
export async function workAbreast(batch: () => Promise<number>): Promise<number> {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let did = 0;
  function begin(): Promise<void> {
    const work = batch()
      .then(
        (count) => {
          did += count;
        },
        (error: unknown) => {
          failures.push(error);
        },
      )
      .finally(() => underWay.delete(work));
    underWay.add(work);
    return work;
  }
  const first = begin();
  while (underWay.has(first)) {
    await Promise.race([first, pause(BESIDE_MS, undefined, { ref: false })]);
    if (underWay.has(first) && underWay.size < BATCHES_MAX) begin();
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
  return did;
}
