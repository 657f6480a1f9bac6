/** Servers as the calendar handles them: when each is processed next, and the fields that it writes. */
import type { Sql } from '../kernel/sql.ts';
import { LIMITS } from '../spec/limits.ts';
import type { SuspendedReason } from '../spec/states.ts';

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
  await tx.run(`update servers set suspended_reason = $2, updated_at = $3 where id = $1`, [
    change.id,
    change.reason,
    change.now,
  ]);
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
