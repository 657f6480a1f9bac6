/** Business figures by the hour. */
import { firstIdAt } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { FigureName } from '../../spec/staff/figures.ts';

export interface FigureRow {
  readonly name: FigureName;
  readonly key: string;
  /** The start of the point. */
  readonly at: Date;
  readonly value: bigint;
}

/** Returns the last measured hour; null before the first measurement. */
export async function findLastFigureHour(tx: Sql): Promise<Date | null> {
  const row = await tx.row<{ hour: Date | null }>('select max(hour) as hour from figures');
  return row?.hour ?? null;
}

const SAVE = `insert into figures (name, key, hour, value)
  select name, key, hour, sum(value)::bigint from counted where name is not null group by name, key, hour
  on conflict (name, key, hour) do update set value = excluded.value
   where figures.value <> excluded.value`;

/** Ids are in order of time, so each table is read from the first id of the span to its last. */
const hourOf = (column: string) => `date_trunc('hour', ${column}, 'UTC')`;

/** Counts what happened in `[from, until)`, both full hours. Counting a span again changes nothing. */
export async function saveFlows(tx: Sql, span: { readonly from: Date; readonly until: Date }): Promise<void> {
  await tx.run(
    `with counted as (
       select case t.type when 'topup' then 'topups' when 'bonus' then 'bonuses' when 'charge' then 'charges'
                when 'refund' then 'refunds' when 'reversal' then 'reversals'
                when 'adjustment' then 'adjustments' end as name,
              case when t.type = 'topup' then coalesce((select coin from topups where id = t.resource_id), '')
                else '' end as key,
              ${hourOf('t.created_at')} as hour,
              case when (t.customer_id = t.credit_account) = (t.type not in ('charge', 'reversal'))
                then t.amount_cents else -t.amount_cents end as value
         from transfers t
        where t.id >= $first and t.id < $last
       union all
       select 'sign_ups', '', ${hourOf('created_at')}, 1 from customers where id >= $first and id < $last
       union all
       select case type when 'server.created' then 'servers_created' else 'servers_destroyed' end, '',
              ${hourOf('created_at')}, 1
         from events where id >= $first and id < $last and type in ('server.created', 'server.destroyed'))
     ${SAVE}`,
    { first: firstIdAt(span.from), last: firstIdAt(span.until) },
  );
}

/** Seconds of the cycle that a server is in. */
const CYCLE_S = `extract(epoch from paid_until - (paid_until - make_interval(months => billing_months)))`;

/**
 * Measures how much there is, for the hour. Revenue is recognized as the paid time passes: each hour, the
 * share of an hour in the price of the cycle.
 */
export async function saveLevels(tx: Sql, hour: Date): Promise<void> {
  await tx.run(
    `with living as (
       select customer_id, region_id, price_cents_cycle, billing_months, auto_renew, paid_until,
              status not in ('suspended', 'destroying') as works
         from servers),
     counted (name, key, hour, value) as (
       select 'customers', '', $hour::timestamptz, count(*) from customers where deleted_at is null
       union all
       select 'paying_customers', '', $hour, count(*) from balances where servers > 0
       union all
       select 'balances', '', $hour, coalesce(sum(balance_cents), 0) from balances
       union all
       select 'servers', region_id, $hour, count(*) from living group by region_id
       union all
       select 'mrr', '', $hour, round(coalesce(sum(price_cents_cycle::numeric / billing_months), 0))
         from living where works and auto_renew
       union all
       select 'revenue', '', $hour, round(coalesce(sum(price_cents_cycle * 3600 / ${CYCLE_S}), 0))
         from living where works)
     ${SAVE}`,
    { hour },
  );
}

/** Sums flows, and takes the last value of levels, for each step from `from` on. */
export async function listFigures(
  tx: Sql,
  query: {
    readonly from: Date;
    readonly stepHours: number;
    readonly flows: readonly FigureName[];
  },
): Promise<FigureRow[]> {
  return await tx.rows<FigureRow>(
    `select name, key, date_bin(make_interval(hours => $stepHours), hour, $from) as at,
            case when name = any ($flows::text[]) then sum(value)::bigint
                 else (array_agg(value order by hour desc))[1] end as value
       from figures where hour >= $from
      group by name, key, at order by name, key, at`,
    query,
  );
}
