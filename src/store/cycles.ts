/** The prepaid cycles of a server. */
import type { Sql } from '../kernel/sql.ts';

/** How many cycles were charged for the server; the next one's fact is `cycle:<id>:<this + 1>`. */
export async function countCycles(tx: Sql, serverId: string): Promise<number> {
  const row = await tx.row<{ last: number | null }>(
    `select max(split_part(fact, ':', 3)::int) as last from transfers
      where resource_id = $1 and type = 'charge' and starts_with(fact, 'cycle:')`,
    [serverId],
  );
  return row?.last ?? 0;
}

export async function setPaidUntil(
  tx: Sql,
  change: { id: string; paidUntil: Date; anchorDay: number; now: Date },
): Promise<void> {
  await tx.run(`update servers set paid_until = $2, anchor_day = $3, updated_at = $4 where id = $1`, [
    change.id,
    change.paidUntil,
    change.anchorDay,
    change.now,
  ]);
}
