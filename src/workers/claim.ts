/**
 * Claims due work under a lease. For `LEASE_S` of the database's time the claimed rows are ours. A heartbeat
 * extends the lease while we work, and every result is written only if the lease is still ours. A process
 * that dies lets its leases expire; a process that stops releases them. Any number of processes may claim
 * concurrently.
 */
import type { Service } from '../domain/context.ts';
import { newId } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';
import { extendLease, releaseLease, type WorkTable } from '../store/leases.ts';
import { claimMails, type MailRow } from '../store/mails.ts';
import { claimOperations, type OperationRow } from '../store/servers/operations.ts';
import { claimTasks, type TaskRow } from '../store/tasks.ts';

const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;

/** A table of work, and how its rows are leased. */
interface WorkQueue<Row> {
  readonly table: WorkTable;
  claim(tx: Sql, claim: { leaseId: string; now: Date; leaseS: number; limit: number }): Promise<Row[]>;
}

const OPERATIONS: WorkQueue<OperationRow> = { table: 'operations', claim: claimOperations };
const TASKS: WorkQueue<TaskRow> = { table: 'tasks', claim: claimTasks };
const MAILS: WorkQueue<MailRow> = { table: 'mails', claim: claimMails };

type BatchHandler<Row> = (rows: Row[]) => Promise<void>;

/** Claims up to `limit` due operations and works on them; returns how many were claimed. */
export function processClaimedOperations(
  service: Service,
  limit: number,
  work: BatchHandler<OperationRow>,
): Promise<number> {
  return processClaimed(OPERATIONS, service, limit, work);
}

/** Claims up to `limit` due tasks and works on them; returns how many were claimed. */
export function processClaimedTasks(
  service: Service,
  limit: number,
  work: BatchHandler<TaskRow>,
): Promise<number> {
  return processClaimed(TASKS, service, limit, work);
}

/** Claims up to `limit` due mails and works on them; returns how many were claimed. */
export function processClaimedMails(
  service: Service,
  limit: number,
  work: BatchHandler<MailRow>,
): Promise<number> {
  return processClaimed(MAILS, service, limit, work);
}

async function processClaimed<Row>(
  queue: WorkQueue<Row>,
  service: Service,
  limit: number,
  work: BatchHandler<Row>,
): Promise<number> {
  const now = service.clock.now();
  const leaseId = newId(now);
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
