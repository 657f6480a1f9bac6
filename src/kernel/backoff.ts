/**
 * How long to wait after repeated failures, one row each. SPEC has its own table for webhook deliveries:
 * `webhookBackoffMinutes` in `spec/limits.ts`.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts';

/** A wait that doubles up to a maximum, or the wait after each failure, of which the last one repeats. */
export type Backoff = { readonly firstMs: number; readonly maxMs: number } | readonly number[];

export const BACKOFF = {
  /** The step of an operation, and a task. */
  step: { firstMs: SECOND_MS, maxMs: 30 * SECOND_MS },
  /** A move that failed: the target may have been the fault, or its host busy. */
  move: { firstMs: 10 * SECOND_MS, maxMs: HOUR_MS },
  /** A node that cannot be read. */
  coin: { firstMs: SECOND_MS / 2, maxMs: 30 * SECOND_MS },
  /** A coin that another process is reading: it ends soon. */
  coinReader: { firstMs: 25, maxMs: SECOND_MS / 2 },
  /** A lost race for a host's capacity: the transaction that reserved the last slot may still roll back. */
  deployRace: { firstMs: 1, maxMs: 50 },
  /** A virtual machine whose process crashes. */
  machineStart: { firstMs: 5 * SECOND_MS, maxMs: 5 * MINUTE_MS },
  /** A backend that does not answer: between probes. */
  backend: { firstMs: SECOND_MS / 2, maxMs: 10 * SECOND_MS },
  /** A host's certificate that could not be renewed. */
  certificate: [1 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS],
  /** A file that could not be sent to a backend. */
  backendFile: { firstMs: SECOND_MS, maxMs: MINUTE_MS },
  /** A copy of a snapshot: the store may be away, or its host too old. */
  snapshotCopy: { firstMs: 5 * SECOND_MS, maxMs: 10 * MINUTE_MS },
  /** A background job that fails. */
  job: { firstMs: SECOND_MS / 2, maxMs: 4 * SECOND_MS },
  /** Between two lines of the log about the same fault. */
  faultLog: [SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS],
  /** The embedded database. */
  databaseStart: [0, SECOND_MS / 5, SECOND_MS, 5 * SECOND_MS],
  /** A mail that its server defers. */
  mail: [1 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS, 24 * HOUR_MS],
} as const satisfies Record<string, Backoff>;

/** Returns the wait in milliseconds after the given number of consecutive failures, counted from 1. */
export function backoffMs(backoff: Backoff, failures: number): number {
  if ('firstMs' in backoff) return Math.min(backoff.firstMs * 2 ** (failures - 1), backoff.maxMs);
  return backoff[Math.min(failures, backoff.length) - 1] ?? 0;
}
