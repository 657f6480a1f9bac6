/** The balance before a period of a customer's ledger, and what the period adds, in the order of booking. */
import type { Sql } from '../../kernel/sql.ts';

/** The signed effect of a transfer on its customer's balance. */
const CENTS = 'case when credit_account = customer_id then amount_cents else -amount_cents end';

export interface PeriodSums {
  readonly opening_cents: bigint;
  readonly in_cents: bigint;
  /** Zero or below. */
  readonly out_cents: bigint;
}

/**
 * Sums the credits and debits from `from` (inclusive) to `to` (exclusive). Reads only the period itself and
 * the transfer before it. Undefined for an unknown customer.
 */
export async function sumPeriod(
  sql: Sql,
  customerId: string,
  period: { readonly from: Date; readonly to: Date },
): Promise<PeriodSums | undefined> {
  return await sql.row<PeriodSums>(
    `select coalesce((select balance_after_cents from transfers where customer_id = $1 and booked_at < $2
                       order by booked_at desc limit 1), 0)::bigint as opening_cents,
            coalesce(sum(cents) filter (where cents > 0), 0)::bigint as in_cents,
            coalesce(sum(cents) filter (where cents < 0), 0)::bigint as out_cents
       from balances b
       left join lateral (select ${CENTS} as cents from transfers
                           where customer_id = $1 and booked_at >= $2 and booked_at < $3) as booked on true
      where b.customer_id = $1 group by b.customer_id`,
    [customerId, period.from, period.to],
  );
}
