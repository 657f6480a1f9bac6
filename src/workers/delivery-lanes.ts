/**
 * Waiting for an endpoint costs sockets, not CPU. So batches to slow endpoints have a lane of their own, and
 * never take the slots of responsive ones.
 */
import type { LeasedQueue } from '../store/webhooks/queues.ts';

/** Concurrent batches to responsive endpoints, and to slow ones. */
const QUICK_BATCHES_MAX = 256;
const SLOW_BATCHES_MAX = 512;
/** Deliveries per batch. */
const QUICK_BATCH_SIZE = 32;
const SLOW_BATCH_SIZE = 8;

/** Returns how many more batches may start in each lane. */
export function freeSlots(batches: ReadonlySet<{ readonly isSlow: boolean }>): {
  readonly quickMax: number;
  readonly slowMax: number;
} {
  const slow = [...batches].filter((batch) => batch.isSlow).length;
  const quick = batches.size - slow;
  // Slow batches beyond their limit use the slots of responsive ones until they end.
  const excess = Math.max(0, slow - SLOW_BATCHES_MAX);
  return {
    quickMax: Math.max(0, QUICK_BATCHES_MAX - quick - excess),
    slowMax: Math.max(0, SLOW_BATCHES_MAX - slow),
  };
}

export function batchSize({ slow }: Pick<LeasedQueue, 'slow'>): number {
  return slow ? SLOW_BATCH_SIZE : QUICK_BATCH_SIZE;
}
