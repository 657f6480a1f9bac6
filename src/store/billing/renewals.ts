/** Reads which cycles end soon and what the next ones cost. Display only, so nothing is locked. */
import type { Sql } from '../../kernel/sql.ts';
import { SERVER_PRICE, type ServerRow } from '../servers/servers.ts';

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
  | 'backup_cents_cycle'
  | 'backup_percent'
  | 'paid_until'
  | 'created_at'
  | 'priced_at'
> & { readonly anchor_day: number };

/**
 * Lists the customer's servers whose cycle ends by `until`, and those suspended for balance, in the order in
 * which the calendar processes them, at most `limit`. A server that has never run has no cycle yet.
 */
export async function listEndingServers(
  sql: Sql,
  customerId: string,
  { until, limit }: { readonly until: Date; readonly limit: number },
): Promise<EndingServerRow[]> {
  return await sql.rows<EndingServerRow>(
    `select id, name, plan_id, status, auto_renew, billing_months, ${SERVER_PRICE}, paid_until,
            created_at, priced_at, anchor_day
       from servers
      where customer_id = $1 and first_run_at is not null
        and (status in ('running', 'stopped', 'installing') and paid_until <= $2
             or status = 'suspended' and suspended_reason = 'balance' and auto_renew)
      order by paid_until, created_at, id limit $3`,
    [customerId, until, limit],
  );
}

/** A monthly price announced for the existing servers of a plan. */
export interface AnnouncedPriceRow {
  readonly plan_id: string;
  readonly price_cents_month: bigint;
  readonly announced_at: Date;
  readonly effective_at: Date;
}

/** Lists the price changes announced for these plans that take effect by `until`, latest first. */
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
