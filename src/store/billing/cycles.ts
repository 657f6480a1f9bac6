/** The prepaid cycles of a server, its suspension, and when the calendar handles it next. */
import type { Sql } from '../../kernel/sql.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { SuspendedReason } from '../../spec/states.ts';
import { assignmentsFor } from '../parameters.ts';
import { SERVER_PRICE, type ServerRow } from '../servers/servers.ts';

/** Counts the cycles charged for the server. The fact of the next one is `cycle:<id>:<count + 1>`. */
export async function countCycles(tx: Sql, serverId: string): Promise<number> {
  const row = await tx.row<{ last: number | null }>(
    `select max(split_part(fact, ':', 3)::int) as last from transfers
      where resource_id = $1 and type = 'charge' and starts_with(fact, 'cycle:')`,
    [serverId],
  );
  return row?.last ?? 0;
}

/** Returns the sum of the refunds for the end of the server, in cents: without those of its resizes. */
export async function sumRefunds(tx: Sql, serverId: string): Promise<bigint> {
  const row = await tx.row<{ cents: bigint }>(
    `select coalesce(sum(amount_cents), 0)::bigint as cents from transfers
      where resource_id = $1 and type = 'refund' and starts_with(fact, 'refund:')`,
    [serverId],
  );
  return row?.cents ?? 0n;
}

/** Returns the day of the month on which the server's cycles end. */
export async function readAnchorDay(tx: Sql, serverId: string): Promise<number> {
  const row = await tx.row<{ anchor_day: number }>('select anchor_day from servers where id = $1', [
    serverId,
  ]);
  if (row === undefined) throw new Error('a server without a row');
  return row.anchor_day;
}

/** Records a paid cycle. The calendar next checks the server when its low-balance window begins. */
export async function setPaidUntil(
  tx: Sql,
  change: {
    readonly id: string;
    readonly paidUntil: Date;
    readonly anchorDay: number;
    readonly now: Date;
  } & Pick<ServerRow, 'price_cents_month' | 'price_cents_cycle' | 'backup_cents_cycle' | 'backup_percent'>,
): Promise<void> {
  await tx.run(
    `update servers
        set paid_until = $paidUntil::timestamptz, anchor_day = $anchorDay, updated_at = $now,
            ${assignmentsFor(SERVER_PRICE)}, paid_from = null, paid_cents = null,
            bill_at = $paidUntil::timestamptz - ${LOW_BALANCE_WINDOW_SQL}, awaiting_since = null
      where id = $id`,
    change,
  );
}

/** Suspends a server that is not suspended. The caller holds its lock. */
export async function setSuspended(
  tx: Sql,
  change: {
    readonly id: string;
    readonly reason: SuspendedReason;
    readonly resumeTo: 'running' | 'stopped';
    readonly destroyAt: Date;
    readonly billAt: Date;
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `update servers
        set status = 'suspended', suspended_reason = $2, suspended_at = $3, resume_to = $4, destroy_at = $5,
            warned_days = null, awaiting_since = null, bill_at = $6, updated_at = $3
      where id = $1`,
    [change.id, change.reason, change.now, change.resumeTo, change.destroyAt, change.billAt],
  );
}

/** Changes the reason of a server that is already suspended. */
export async function setSuspendedReason(
  tx: Sql,
  change: { readonly id: string; readonly reason: SuspendedReason; readonly now: Date },
): Promise<void> {
  await tx.run(`update servers set suspended_reason = $reason, updated_at = $now where id = $id`, change);
}

/**
 * Restarts a suspension with a new grace period, and makes it due now: the operator lifted a hold or a
 * freeze.
 */
export async function restartSuspension(
  tx: Sql,
  change: {
    readonly id: string;
    readonly reason: SuspendedReason;
    readonly destroyAt: Date;
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `update servers
        set suspended_reason = $2, suspended_at = $3, destroy_at = $4, warned_days = null, bill_at = $3,
            updated_at = $3
      where id = $1`,
    [change.id, change.reason, change.now, change.destroyAt],
  );
}

/** Sets when the calendar next processes the server. */
export async function setBillAt(tx: Sql, id: string, billAt: Date | null): Promise<void> {
  await tx.run(`update servers set bill_at = $2 where id = $1`, [id, billAt]);
}

/**
 * The SQL interval before the end of a cycle at which the calendar checks whether the balance pays the next
 * one.
 */
export const LOW_BALANCE_WINDOW_SQL = `interval '${LIMITS.lowBalanceDays} days'`;
