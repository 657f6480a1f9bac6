/**
 * Leases of queued work. A lease expires on the database's clock; a stopped process releases its own, so that
 * no other one has to wait.
 */
import type { Sql } from '../kernel/sql.ts';

/** The tables of work that any process claims when it is due. */
export type WorkTable = 'operations' | 'tasks' | 'mails';

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

/** Releases all leases, for a process that knows it is the only one. */
export async function releaseAllLeases(tx: Sql): Promise<void> {
  for (const table of ['operations', 'tasks', 'coins', 'webhook_queues', 'mails', 'backend_files']) {
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
