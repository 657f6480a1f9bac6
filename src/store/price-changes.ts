/** Prices that the operator announced for servers that there were. */
import type { Sql } from '../kernel/sql.ts';

/**
 * The announced price of a month that holds for a cycle beginning `from`; undefined: the one the server has. Whoever
 * ordered after the announcement pays what the catalogue said then.
 */
export async function findAnnouncedPrice(
  tx: Sql,
  cycle: { readonly planId: string; readonly createdAt: Date; readonly from: Date },
): Promise<bigint | undefined> {
  const row = await tx.row<{ price_cents_month: bigint }>(
    `select price_cents_month from price_changes
      where plan_id = $1 and cancelled_at is null and effective_at <= $2 and announced_at > $3
      order by effective_at desc limit 1`,
    [cycle.planId, cycle.from, cycle.createdAt],
  );
  return row?.price_cents_month;
}
