/** Operations on servers: the work queue. A finished operation is deleted. */
import type { Sql } from '../kernel/sql.ts';

export type OperationKind = 'provision' | 'destroy';
export type OperationStep = 'ensure' | 'observe' | 'leave_host' | 'give_up' | 'remove';

export interface OperationRow {
  readonly id: string;
  readonly server_id: string;
  readonly kind: OperationKind;
  readonly step: OperationStep;
  /** Times in a row that this step failed. */
  readonly attempts: number;
  readonly tried_hosts: string[];
  /** When the present host was taken. */
  readonly placed_at: Date;
  /** Why the last attempt to make the machine failed, for the operator. */
  readonly last_fault: string | null;
  readonly due_at: Date;
  readonly lease_id: string;
  /** The name of the host or machine that the server has, as it was when this was claimed. */
  readonly host: string | null;
  readonly created_at: Date;
}

/** Leases due operations, most overdue first. The lease ends by itself: the database's clock counts. */
export async function claimOperations(
  tx: Sql,
  claim: { leaseId: string; now: Date; leaseS: number; limit: number },
): Promise<OperationRow[]> {
  return await tx.rows<OperationRow>(
    `with due as (
       select id, server_id from operations
        where due_at <= $1 and (leased_until is null or leased_until < clock_timestamp())
        order by due_at limit $2 for update skip locked)
     update operations o set lease_id = $3, leased_until = clock_timestamp() + make_interval(secs => $4)
       from due
       join servers s on s.id = due.server_id
       left join hosts h on h.id = s.host_id
       left join machines m on m.id = s.machine_id
      where o.id = due.id
     returning o.id, o.server_id, o.kind, o.step, o.attempts, o.tried_hosts, o.placed_at, o.last_fault, o.due_at,
               o.lease_id, coalesce(h.name, m.name) as host, o.created_at`,
    [claim.now, claim.limit, claim.leaseId, claim.leaseS],
  );
}

export async function extendLease(tx: Sql, leaseId: string, leaseS: number): Promise<void> {
  await tx.run(
    `update operations set leased_until = clock_timestamp() + make_interval(secs => $2) where lease_id = $1`,
    [leaseId, leaseS],
  );
}

/** Whether the lease is still ours and still runs: asked right before an act that cannot be taken back. */
export async function holdsLease(
  tx: Sql,
  operation: Pick<OperationRow, 'id' | 'lease_id'>,
): Promise<boolean> {
  const held = await tx.row(
    `select from operations where id = $1 and lease_id = $2 and leased_until > clock_timestamp()`,
    [operation.id, operation.lease_id],
  );
  return held !== undefined;
}

/** Gives back what was claimed and not finished, so that another process need not wait for the lease to end. */
export async function releaseLease(tx: Sql, leaseId: string): Promise<void> {
  await tx.run(`update operations set lease_id = null, leased_until = null where lease_id = $1`, [leaseId]);
}

/** Ends all leases: for a process that knows that no other one lives. */
export async function releaseAllLeases(tx: Sql): Promise<void> {
  await tx.run(`update operations set lease_id = null, leased_until = null where lease_id is not null`);
  await tx.run(`update tasks set lease_id = null, leased_until = null where lease_id is not null`);
  await tx.run(`update coins set lease_id = null, leased_until = null where lease_id is not null`);
}

/** Moves an operation on and lets go of it; false when the lease was lost, and with it the right to write. */
export async function advanceOperation(
  tx: Sql,
  operation: Omit<OperationRow, 'server_id' | 'host' | 'created_at'>,
): Promise<boolean> {
  const changed = await tx.run(
    `update operations
        set kind = $3, step = $4, attempts = $5, tried_hosts = $6, placed_at = $7, last_fault = $8,
            due_at = $9, lease_id = null, leased_until = null
      where id = $1 and lease_id = $2`,
    [
      operation.id,
      operation.lease_id,
      operation.kind,
      operation.step,
      operation.attempts,
      operation.tried_hosts,
      operation.placed_at,
      operation.last_fault,
      operation.due_at,
    ],
  );
  return changed === 1;
}

export async function finishOperation(
  tx: Sql,
  operation: Pick<OperationRow, 'id' | 'lease_id'>,
): Promise<boolean> {
  return (
    (await tx.run(`delete from operations where id = $1 and lease_id = $2`, [
      operation.id,
      operation.lease_id,
    ])) === 1
  );
}

/** Whether an operation of this server is under way. The caller holds the server's lock. */
export async function hasOperation(tx: Sql, serverId: string): Promise<boolean> {
  return (await tx.row(`select from operations where server_id = $1`, [serverId])) !== undefined;
}

/** When the next operation is due, held or not. */
export async function nextOperationDue(tx: Sql): Promise<Date | null> {
  const row = await tx.row<{ due_at: Date }>(`select due_at from operations order by due_at limit 1`);
  return row?.due_at ?? null;
}

/** Whether an operation is held by somebody, or due by `soon`, or an install is looked at again within a minute. */
export async function operationsUnderWay(tx: Sql, soon: Date): Promise<boolean> {
  const row = await tx.row<{ found: boolean }>(
    `select exists (select from operations where due_at <= $1 or leased_until > clock_timestamp()
                       or (step = 'observe' and due_at <= $1 + interval '1 minute')) as found`,
    [soon],
  );
  return row?.found ?? false;
}
