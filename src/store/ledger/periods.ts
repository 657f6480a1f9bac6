/**
 * Sums of a customer's transfers over a period, and the balances at its bounds. Reads only the period itself.
 */
import type { Sql } from '../../kernel/sql.ts';

/** The signed effect of a transfer on its customer's balance. */
const CENTS = 'case when credit_account = customer_id then amount_cents else -amount_cents end';

export interface PeriodSums {
  readonly in_cents: bigint;
  /** Zero or below. */
  readonly out_cents: bigint;
}

/** Sums the credits and debits from `from` (inclusive) to `to` (exclusive). */
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

/**
 * A transfer next to a point in time, and the current balance. Without transfers, a row with the balance
 * only.
 */
export interface PeriodEdgeRow {
  readonly balance_cents: bigint;
  /** Booked at that time or later; null: there are no transfers. */
  readonly later: boolean | null;
  readonly before_cents: bigint;
  readonly after_cents: bigint;
}

/**
 * Reads the transfers of the last time before `at` and of the first time since; empty for an unknown
 * customer.
 */
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

/** Returns the balance just before `at`, computed back from the current one: reads every transfer since. */
export async function readBalanceBefore(sql: Sql, customerId: string, at: Date): Promise<bigint | undefined> {
  const row = await sql.row<{ cents: bigint }>(
    `select balance_cents - (select coalesce(sum(${CENTS}), 0)::bigint from transfers
                              where customer_id = $1 and created_at >= $2) as cents
       from balances where customer_id = $1`,
    [customerId, at],
  );
  return row?.cents;
}
