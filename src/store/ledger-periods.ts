/** What was booked on a balance in a span of time, and what lies next to its begin. None of it reads what lies beyond. */
import type { Sql } from '../kernel/sql.ts';

/** What a transfer did to its customer's balance. */
const CENTS = 'case when credit_account = customer_id then amount_cents else -amount_cents end';

export interface PeriodSums {
  readonly in_cents: bigint;
  /** Zero or below. */
  readonly out_cents: bigint;
}

/** What came and went from `from` until just before `to`. */
export async function sumPeriod(
  sql: Sql,
  customerId: string,
  period: { readonly from: Date; readonly to: Date },
): Promise<PeriodSums> {
  const sums = await sql.row<PeriodSums>(
    `select coalesce(sum(cents) filter (where cents > 0), 0)::bigint as in_cents,
            coalesce(sum(cents) filter (where cents < 0), 0)::bigint as out_cents
       from (select ${CENTS} as cents from transfers
              where customer_id = $1 and created_at >= $2 and created_at < $3) as booked`,
    [customerId, period.from, period.to],
  );
  return sums ?? { in_cents: 0n, out_cents: 0n };
}

/** A booking next to a moment, and the present balance; only that where nothing was booked. */
export interface PeriodEdgeRow {
  readonly balance_cents: bigint;
  /** Booked at that moment or after it; null: there is no booking. */
  readonly later: boolean | null;
  readonly before_cents: bigint;
  readonly after_cents: bigint;
}

/** All bookings of the last time before `at`, and of the first time from then on; none where there is no such customer. */
export async function readPeriodEdge(sql: Sql, customerId: string, at: Date): Promise<PeriodEdgeRow[]> {
  return await sql.rows<PeriodEdgeRow>(
    `select b.balance_cents, t.later, t.before_cents, t.after_cents
       from balances b
       left join lateral (
         select created_at >= $2 as later, balance_after_cents - ${CENTS} as before_cents,
                balance_after_cents as after_cents
           from transfers
          where customer_id = $1 and created_at in (
            (select created_at from transfers where customer_id = $1 and created_at < $2
              order by created_at desc, id desc limit 1),
            (select created_at from transfers where customer_id = $1 and created_at >= $2
              order by created_at, id limit 1))) as t on true
      where b.customer_id = $1`,
    [customerId, at],
  );
}

/** The balance of all that was booked before `at`, counted back from the present one: reads all that came since. */
export async function readBalanceBefore(sql: Sql, customerId: string, at: Date): Promise<bigint | undefined> {
  const row = await sql.row<{ cents: bigint }>(
    `select balance_cents - (select coalesce(sum(${CENTS}), 0)::bigint from transfers
                              where customer_id = $1 and created_at >= $2) as cents
       from balances where customer_id = $1`,
    [customerId, at],
  );
  return row?.cents;
}
