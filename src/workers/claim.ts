/**
 * Claiming due work. A claim is a lease: for `LEASE_S` of the database's time the rows are ours, a heartbeat
 * extends it while we work, and every result is written only where the lease is still ours. A process that dies lets
 * its leases run out; one that stops gives them back. Any number of processes may claim at once.
 */
import type { Service } from '../domain/context.ts';
import { newId } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';
import { claimMails, extendMailLease, type MailRow, releaseMailLease } from '../store/mails.ts';
import {
  claimOperations,
  extendOperationLease,
  type OperationRow,
  releaseOperationLease,
} from '../store/operations.ts';
import { claimTasks, extendTaskLease, releaseTaskLease, type TaskRow } from '../store/tasks.ts';

const LEASE_S = 10;
const HEARTBEAT_MS = 3_000;

/** A table of work: how its rows are leased. */
interface WorkQueue<Row> {
  claim(tx: Sql, claim: { leaseId: string; now: Date; leaseS: number; limit: number }): Promise<Row[]>;
  extend(tx: Sql, leaseId: string, leaseS: number): Promise<void>;
  release(tx: Sql, leaseId: string): Promise<void>;
}

const OPERATIONS: WorkQueue<OperationRow> = {
  claim: claimOperations,
  extend: extendOperationLease,
  release: releaseOperationLease,
};
const TASKS: WorkQueue<TaskRow> = { claim: claimTasks, extend: extendTaskLease, release: releaseTaskLease };

const MAILS: WorkQueue<MailRow> = { claim: claimMails, extend: extendMailLease, release: releaseMailLease };

type BatchHandler<Row> = (rows: Row[]) => Promise<void>;

/** Claims up to `limit` due operations and works on them; returns how many there were. */
export function processClaimedOperations(
  service: Service,
  limit: number,
  work: BatchHandler<OperationRow>,
): Promise<number> {
  return processClaimed(OPERATIONS, service, limit, work);
}

/** The same for tasks. */
export function processClaimedTasks(
  service: Service,
  limit: number,
  work: BatchHandler<TaskRow>,
): Promise<number> {
  return processClaimed(TASKS, service, limit, work);
}

/** The same for mails. */
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
    queue.extend(service.db, leaseId, LEASE_S).catch(logFailure(service, 'a lease could not be extended'));
  }, HEARTBEAT_MS);
  try {
    await work(rows);
  } finally {
    clearInterval(heartbeat);
    // What was not moved on (a step failed in an unforeseen way) need not wait for the lease to end.
    await queue.release(service.db, leaseId).catch(logFailure(service, 'a lease could not be given back'));
  }
  return rows.length;
}

function logFailure(service: Service, message: string): (error: unknown) => void {
  return (error) => service.log.warn({ err: error }, message);
}
