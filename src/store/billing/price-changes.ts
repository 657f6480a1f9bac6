/** Price changes that the operator announced for existing servers, and who pays for plans. */
import type { Sql } from '../../kernel/sql.ts';
import { SERVER_PRICE, type ServerRow } from '../servers/servers.ts';

/**
 * Finds the announced monthly price for a cycle that begins at `from`; undefined: the server's own price. A
 * server that was ordered, or changed its plan, after the announcement already has the catalog price.
 */
export async function findAnnouncedPrice(
  tx: Sql,
  cycle: { readonly planId: string; readonly pricedAt: Date; readonly from: Date },
): Promise<bigint | undefined> {
  const row = await tx.row<{ price_cents_month: bigint }>(
    `select price_cents_month from price_changes
      where plan_id = $1 and cancelled_at is null and effective_at <= $2 and announced_at > $3
      order by effective_at desc limit 1`,
    [cycle.planId, cycle.from, cycle.pricedAt],
  );
  return row?.price_cents_month;
}

export interface PriceChangeRow {
  readonly id: string;
  readonly plan_id: string;
  /** The catalog price at the time of the announcement. */
  readonly old_price_cents_month: bigint;
  readonly price_cents_month: bigint;
  readonly announced_at: Date;
  readonly effective_at: Date;
  readonly cancelled_at: Date | null;
  /** The last customer notified; all were at `told_at`. */
  readonly told_up_to: string | null;
  readonly told_at: Date | null;
}

const COLUMNS = `id, plan_id, old_price_cents_month, price_cents_month, announced_at, effective_at,
  cancelled_at, told_up_to, told_at`;

/** Returns false when another price change of this plan takes effect at the same time. */
export async function insertPriceChange(
  tx: Sql,
  row: Omit<PriceChangeRow, 'cancelled_at' | 'told_up_to' | 'told_at'>,
): Promise<boolean> {
  const inserted = await tx.run(
    `insert into price_changes (id, plan_id, old_price_cents_month, price_cents_month, announced_at,
                                effective_at)
     values ($id, $plan_id, $old_price_cents_month, $price_cents_month, $announced_at, $effective_at)
     on conflict (plan_id, effective_at) where cancelled_at is null do nothing`,
    row,
  );
  return inserted === 1;
}

/** Lists the latest announcements, including canceled ones, with the current catalog price. */
export async function listPriceChanges(
  tx: Sql,
  limit: number,
): Promise<(PriceChangeRow & { readonly catalogue_cents_month: bigint })[]> {
  return await tx.rows(
    `select ${COLUMNS},
            (select p.price_cents_month from plans p where p.id = plan_id) as catalogue_cents_month
       from price_changes order by announced_at desc, id desc limit $1`,
    [limit],
  );
}

export async function lockPriceChange(tx: Sql, id: string): Promise<PriceChangeRow | undefined> {
  return await tx.row<PriceChangeRow>(`select ${COLUMNS} from price_changes where id = $1 for update`, [id]);
}

export async function cancelPriceChange(tx: Sql, id: string, now: Date): Promise<void> {
  await tx.run(`update price_changes set cancelled_at = $2 where id = $1`, [id, now]);
}

/**
 * Locks the oldest announcement that still has customers to notify, unless another process is notifying them.
 */
export async function lockUnnotifiedPriceChange(tx: Sql): Promise<PriceChangeRow | undefined> {
  return await tx.row<PriceChangeRow>(
    `select ${COLUMNS} from price_changes where told_at is null and cancelled_at is null
      order by announced_at, id limit 1 for update skip locked`,
  );
}

/** A server affected by the announcement. */
export type PricedServerRow = Pick<
  ServerRow,
  | 'customer_id'
  | 'name'
  | 'billing_months'
  | 'paid_until'
  | 'price_cents_month'
  | 'price_cents_cycle'
  | 'backup_cents_cycle'
  | 'backup_percent'
> & { readonly anchor_day: number };

/** How many customers are notified at once; small, so that the planner uses the index. */
export const NOTIFY_BATCH = 100;

/**
 * Lists the servers of the next customers to notify, in the order of customer ids: servers of this plan,
 * priced before the announcement, with another price, and set to renew.
 */
export async function listServersToNotify(tx: Sql, change: PriceChangeRow): Promise<PricedServerRow[]> {
  const affected = `plan_id = $1 and auto_renew and status <> 'destroying'
    and coalesce(priced_at, created_at) < $2 and price_cents_month <> $3`;
  return await tx.rows<PricedServerRow>(
    `with next as (
       select distinct customer_id from servers
        where ${affected} and customer_id > coalesce($4, '00000000-0000-0000-0000-000000000000'::uuid)
        order by customer_id limit ${NOTIFY_BATCH})
     select customer_id, name, billing_months, anchor_day, paid_until, ${SERVER_PRICE}
       from servers where ${affected} and customer_id in (select customer_id from next)
      order by customer_id, created_at, id`,
    [change.plan_id, change.announced_at, change.price_cents_month, change.told_up_to],
  );
}

export async function saveNotifyProgress(
  tx: Sql,
  id: string,
  progress: { readonly upTo: string | null; readonly at: Date | null },
): Promise<void> {
  await tx.run(`update price_changes set told_up_to = coalesce($2, told_up_to), told_at = $3 where id = $1`, [
    id,
    progress.upTo,
    progress.at,
  ]);
}

/** The servers that renew at the price of a plan. */
export interface PlanPayers {
  readonly servers: bigint;
  readonly customers: bigint;
  /** The sum of their monthly prices, without backups. */
  readonly cents_month: bigint;
}

/** The number is always above 0: the condition is that of the index by plan. */
const RENEWS = `auto_renew and status <> 'destroying' and public_no > 0`;

/** Adds up by customer first: counting distinct ones would sort all servers. */
const sumPayers = (condition: string) => `
  select plan_id, sum(servers)::bigint as servers, count(*) as customers,
         coalesce(sum(cents), 0)::bigint as cents_month
    from (select plan_id, count(*) as servers, sum(price_cents_month) as cents
            from servers where ${RENEWS} ${condition} group by plan_id, customer_id) as payers
   group by plan_id`;

/** Counts all servers by plan, and keeps the counts. */
export async function savePlanPayers(tx: Sql, now: Date): Promise<void> {
  await tx.run(
    `insert into plan_payers (plan_id, servers, customers, cents_month, counted_at)
     select p.id, coalesce(servers, 0), coalesce(customers, 0), coalesce(cents_month, 0), $1
       from plans p left join (${sumPayers('')}) as counted on counted.plan_id = p.id
     on conflict (plan_id) do update
       set servers = excluded.servers, customers = excluded.customers, cents_month = excluded.cents_month,
           counted_at = excluded.counted_at`,
    [now],
  );
}

export type CountedPayers = PlanPayers & { readonly plan_id: string; readonly counted_at: Date };

/** The last counts by plan. A plan that was added since is left out. */
export async function listPlanPayers(tx: Sql): Promise<CountedPayers[]> {
  return await tx.rows('select plan_id, servers, customers, cents_month, counted_at from plan_payers');
}

/** Counts those of one plan now. */
export async function countPlanPayers(tx: Sql, planId: string): Promise<PlanPayers> {
  const row = await tx.row<PlanPayers>(sumPayers('and plan_id = $1'), [planId]);
  return row ?? { servers: 0n, customers: 0n, cents_month: 0n };
}

/** Counts those whose price an announcement of this price would change. */
export async function countAffectedPayers(tx: Sql, planId: string, cents: bigint): Promise<PlanPayers> {
  const row = await tx.row<PlanPayers>(sumPayers('and plan_id = $1 and price_cents_month <> $2'), [
    planId,
    cents,
  ]);
  return row ?? { servers: 0n, customers: 0n, cents_month: 0n };
}
