/** What is read to say which cycles end soon, and what the next ones cost. Nothing is locked: it is only shown. */
import type { Sql } from '../kernel/sql.ts';
import type { ServerRow } from './servers.ts';

export type EndingServerRow = Pick<
  ServerRow,
  | 'id'
  | 'name'
  | 'plan_id'
  | 'status'
  | 'auto_renew'
  | 'billing_months'
  | 'price_cents_month'
  | 'price_cents_cycle'
  | 'paid_until'
  | 'created_at'
> & { readonly anchor_day: number };

/**
 * The customer's servers whose cycle ends by then, and those that wait for his balance: in the order in which the calendar
 * comes to them, at most `limit`. One that has not run yet has no calendar.
 */
export async function listEndingServers(
  sql: Sql,
  customerId: string,
  { until, limit }: { readonly until: Date; readonly limit: number },
): Promise<EndingServerRow[]> {
  return await sql.rows<EndingServerRow>(
    `select id, name, plan_id, status, auto_renew, billing_months, price_cents_month, price_cents_cycle, paid_until,
            created_at, anchor_day
       from servers
      where customer_id = $1 and first_run_at is not null
        and (status in ('running', 'stopped', 'installing') and paid_until <= $2
             or status = 'suspended' and suspended_reason = 'balance' and auto_renew)
      order by paid_until, created_at, id limit $3`,
    [customerId, until, limit],
  );
}

/** A price of a month that was announced for servers of a plan that there were. */
export interface AnnouncedPriceRow {
  readonly plan_id: string;
  readonly price_cents_month: bigint;
  readonly announced_at: Date;
  readonly effective_at: Date;
}

/** What was announced for these plans and holds by then, the latest first. */
export async function listAnnouncedPrices(
  sql: Sql,
  planIds: readonly string[],
  until: Date,
): Promise<AnnouncedPriceRow[]> {
  return await sql.rows<AnnouncedPriceRow>(
    `select plan_id, price_cents_month, announced_at, effective_at from price_changes
      where plan_id = any($1) and cancelled_at is null and effective_at <= $2 order by effective_at desc`,
    [planIds, until],
  );
}
