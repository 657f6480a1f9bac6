/**
 * Claims due work under a lease. For `LEASE_S` of the database's time the claimed rows are ours. A heartbeat
 * extends the lease while we work, and every result is written only if the lease is still ours. A process
 * that stops releases its leases, and if it dies, the others do. Any number of processes may claim
 * concurrently.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import type { Sql } from '../kernel/sql.ts';
import { extendLease, newLeaseId, releaseLease, type WorkTable } from '../store/leases.ts';
import { claimMails, type MailRow } from '../store/mails.ts';
import { claimOperations, type OperationRow } from '../store/servers/operations.ts';
import { claimTasks, type TaskRow } from '../store/tasks.ts';

const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;
/** Limit of concurrent batches, and how soon another one starts next to slow ones. */
const CONCURRENT_BATCHES_MAX = 4;
const START_ANOTHER_AFTER_MS = 250;

/** A table of work, and how its rows are leased. */
interface WorkQueue<Row> {
  readonly table: WorkTable;
  claim(tx: Sql, claim: { leaseId: string; now: Date; leaseS: number; limit: number }): Promise<Row[]>;
}

export const OPERATIONS: WorkQueue<OperationRow> = { table: 'operations', claim: claimOperations };
export const TASKS: WorkQueue<TaskRow> = { table: 'tasks', claim: claimTasks };
export const MAILS: WorkQueue<MailRow> = { table: 'mails', claim: claimMails };

/** Claims up to `limit` due rows and works on them; returns how many were claimed. */
export async function processClaimed<Row>(
  queue: WorkQueue<Row>,
  service: Service,
  limit: number,
  work: (rows: Row[]) => Promise<void>,
): Promise<number> {
  const now = service.clock.now();
  const leaseId = newLeaseId();
  const rows = await queue.claim(service.db, { leaseId, now, leaseS: LEASE_S, limit });
  if (rows.length === 0) return 0;
  const heartbeat = setInterval(() => {
    extendLease(service.db, queue.table, leaseId, LEASE_S).catch(
      logFailure(service, 'lease could not be extended'),
    );
  }, HEARTBEAT_MS);
  try {
    await work(rows);
  } finally {
    clearInterval(heartbeat);
    // Release rows that an unexpected failure left claimed, so that they need not wait for its expiry.
    await releaseLease(service.db, queue.table, leaseId).catch(
      logFailure(service, 'lease could not be released'),
    );
  }
  return rows.length;
}

function logFailure(service: Service, message: string): (error: unknown) => void {
  return (error) => service.log.warn({ err: error }, message);
}

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
