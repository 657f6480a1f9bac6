/** The prepaid cycles of a server. */
import type { Sql } from '../kernel/sql.ts';
import { LOW_BALANCE_WINDOW_SQL } from './billing.ts';

/** Counts the cycles charged for the server. The fact of the next one is `cycle:<id>:<count + 1>`. */
export async function countCycles(tx: Sql, serverId: string): Promise<number> {
  const row = await tx.row<{ last: number | null }>(
    `select max(split_part(fact, ':', 3)::int) as last from transfers
      where resource_id = $1 and type = 'charge' and starts_with(fact, 'cycle:')`,
    [serverId],
  );
  return row?.last ?? 0;
}

/** Records a paid cycle. The calendar next checks the server when its low-balance window begins. */
export async function setPaidUntil(
  tx: Sql,
  change: {
    readonly id: string;
    readonly paidUntil: Date;
    readonly anchorDay: number;
    readonly monthCents: bigint;
    readonly cycleCents: bigint;
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `update servers
        set paid_until = $2::timestamptz, anchor_day = $3, updated_at = $4, price_cents_month = $5,
            price_cents_cycle = $6,
            bill_at = $2::timestamptz - ${LOW_BALANCE_WINDOW_SQL}, awaiting_since = null
      where id = $1`,
    [change.id, change.paidUntil, change.anchorDay, change.now, change.monthCents, change.cycleCents],
  );
}
