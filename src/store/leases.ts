/**
 * Leases of queued work. A lease expires on the database's clock. No other process has to wait for that: a
 * process that stops releases its own, and when it dies, the others do (see service/processes.ts).
 */
import { randomBytes } from 'node:crypto';
import type { Sql } from '../kernel/sql.ts';

/** How long a lease lasts on the database's clock, and how often a process extends those of its work. */
export const LEASE_S = 10;
export const HEARTBEAT_MS = 1_000;
/** A process that lives has extended its leases more recently. */
export const MISSED_HEARTBEATS_S = 2.5;

/** The tables of work that any process claims when it is due. */
export type WorkTable = 'operations' | 'tasks' | 'mails';

const LEASED_TABLES = [
  ...([
    'operations',
    'tasks',
    'coins',
    'webhook_queues',
    'mails',
    'backend_files',
    'snapshot_copies',
  ] as const),
];

const HALF_BYTES = 8;
/** The first half of the ids of all leases of this process. */
const OWNER = randomBytes(HALF_BYTES).toString('hex');

/** Lease ids of one process: UUIDs from the first to the last. */
export interface LeaseRange {
  readonly first_lease: string;
  readonly last_lease: string;
}

export const OWN_LEASES: LeaseRange = {
  first_lease: formatUuid(OWNER + '00'.repeat(HALF_BYTES)),
  last_lease: formatUuid(OWNER + 'ff'.repeat(HALF_BYTES)),
};

/** Returns the id of a new lease, which tells the other processes whose it is. */
export function newLeaseId(): string {
  return formatUuid(OWNER + randomBytes(HALF_BYTES).toString('hex'));
}

function formatUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export async function extendLease(tx: Sql, table: WorkTable, leaseId: string, leaseS: number): Promise<void> {
  await tx.run(
    `update ${table} set leased_until = clock_timestamp() + make_interval(secs => $2) where lease_id = $1`,
    [leaseId, leaseS],
  );
}

/** Releases the rows that were claimed and not finished. */
export async function releaseLease(tx: Sql, table: WorkTable, leaseId: string): Promise<void> {
  await tx.run(`update ${table} set lease_id = null, leased_until = null where lease_id = $1`, [leaseId]);
}

/** Releases the leases of a process that it no longer extends. Returns how many. */
export async function releaseMissedLeases(tx: Sql, owner: LeaseRange): Promise<number> {
  let released = 0;
  for (const table of LEASED_TABLES) {
    released += await tx.run(
      `update ${table} set lease_id = null, leased_until = null
        where lease_id between $first_lease::uuid and $last_lease::uuid
          and leased_until < clock_timestamp() + make_interval(secs => $leftS)`,
      { ...owner, leftS: LEASE_S - MISSED_HEARTBEATS_S },
    );
  }
  return released;
}

/** Releases all leases, for a process that knows it is the only one. */
export async function releaseAllLeases(tx: Sql): Promise<void> {
  for (const table of LEASED_TABLES) {
    await tx.run(`update ${table} set lease_id = null, leased_until = null where lease_id is not null`);
  }
}

/** Returns when the next row is due, leased or not. */
export async function nextDue(tx: Sql, table: WorkTable): Promise<Date | null> {
  const row = await tx.row<{ due_at: Date }>(
    `select due_at from ${table} where due_at is not null order by due_at limit 1`,
  );
  return row?.due_at ?? null;
}
