/**
 * Which alerts fire for which servers, and what an evaluation changes about it. One statement compares alerts
 * with the stored samples.
 */
import type { Sql } from '../../kernel/sql.ts';
import type { AlertMetric } from '../../spec/alerts.ts';
import { POINT_SERIES } from '../../spec/metrics.ts';
import { POINT_WIDTH } from './points.ts';

export interface FiringChange {
  readonly alert_id: string;
  readonly customer_id: string;
  readonly server_id: string;
  /** Whether it begins to fire; otherwise it ends. */
  readonly fires: boolean;
}

/** Samples older than this say nothing about now. */
const SAMPLE_AGE_MAX = `interval '3 minutes'`;
const WINDOW = `p.window_min * interval '1 minute'`;
const TIB_SQL = '1099511627776.0';

/** The place of a metric in a point, from 1, and its factor. */
const PLACES: Readonly<Partial<Record<AlertMetric, (typeof POINT_SERIES)[number]>>> = {
  cpu_pct: 'cpu_pct',
  ram_pct: 'ram_mb',
  disk_write_bps: 'disk_write_bps',
  net_out_bps: 'net_out_bps',
};
const PLACE = `case p.metric ${Object.entries(PLACES)
  .map(([metric, series]) => `when '${metric}' then ${POINT_SERIES.indexOf(series) + 1}`)
  .join(' ')} end`;
const FACTOR = `case p.metric when 'ram_pct' then 100.0::float8 / p.ram_mb else 1 end`;

const violates = (value: string) =>
  `case p.compare when 'gt' then ${value} > p.value else ${value} < p.value end`;

/** The samples of a pair's window: how many there are, and how many meet the condition. */
const SAMPLES = `
  select count(value)::int as known, count(value) filter (where ${violates('value')})::int as violating
    from (select m.points[k * ${POINT_WIDTH} + ${PLACE}] * ${FACTOR} as value
            from (select l.starts_at + interval '1 minute' * (cardinality(l.points) / ${POINT_WIDTH}) as until
                    from metric_points l where l.server_id = p.server_id and l.step_s = 60
                   order by l.starts_at desc limit 1) as last
            join metric_points m on m.server_id = p.server_id and m.step_s = 60
             and m.starts_at > last.until - interval '2 hours'
           cross join lateral generate_series(0, cardinality(m.points) / ${POINT_WIDTH} - 1) as k
           where last.until >= $now::timestamptz - ${SAMPLE_AGE_MAX}
             and m.starts_at + k * interval '1 minute' >= last.until - ${WINDOW}) as samples`;

/** The share of the month's transfer that is used, in percent. */
const TRANSFER = `
  select 100.0::float8 * t.bytes / nullif(p.transfer_tb * ${TIB_SQL}, 0)::float8 as used
    from transfers_out t
   where t.server_id = p.server_id
     and t.month = date_trunc('month', $now::timestamptz at time zone 'UTC')::date`;

const CHANGES = `
  with pairs as materialized (
    select a.id as alert_id, a.customer_id, a.metric, a.compare, a.value, a.window_min, s.id as server_id,
           s.ram_mb, plan.transfer_tb, g.silent_since
      from alerts a
      join servers s on s.customer_id = a.customer_id and s.status = 'running'
       and case when a.label_selector is null
                then exists (select from alert_servers t where t.alert_id = a.id and t.server_id = s.id)
                else jsonb_contains(s.labels, a.label_selector) end
      join plans plan on plan.id = s.plan_id
      left join samplings g on g.server_id = s.id
     where a.customer_id = any($customers::uuid[]) and a.enabled),
  verdicts as materialized (
    select p.alert_id, p.server_id,
           case p.metric when 'unreachable' then p.silent_since <= $now::timestamptz - ${WINDOW}
                         when 'transfer_pct' then ${violates('transfer.used')}
                         else samples.known = p.window_min and samples.violating = p.window_min end as starts,
           case p.metric when 'unreachable' then p.silent_since is not null
                         when 'transfer_pct' then ${violates('transfer.used')}
                         else samples.known > 0 and samples.violating = samples.known end as lasts
      from pairs p
      left join lateral (${SAMPLES}) as samples on p.metric not in ('unreachable', 'transfer_pct')
      left join lateral (${TRANSFER}) as transfer on p.metric = 'transfer_pct'),
  firing as materialized (
    select f.alert_id, f.server_id, f.since from alert_firings f
      join alerts a on a.id = f.alert_id where a.customer_id = any($customers::uuid[]))
  select alert_id, server_id, a.customer_id, f.since is null as fires
    from verdicts v full join firing f using (alert_id, server_id) join alerts a on a.id = alert_id
   where case when f.since is null then v.starts else not coalesce(v.lasts, false) end
   order by fires, alert_id, server_id limit $limit`;

/** Compares the customers' alerts with what is known of their servers. Returns what is to change. */
export async function findFiringChanges(
  tx: Sql,
  wanted: { readonly customers: readonly string[]; readonly now: Date; readonly limit: number },
): Promise<FiringChange[]> {
  return await tx.rows<FiringChange>(CHANGES, wanted);
}

/** Returns a page of the customers that have alerts, by id after `after`. */
export async function listAlertCustomers(
  tx: Sql,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<string[]> {
  const rows = await tx.rows<{ customer_id: string }>(
    `select customer_id from alerts where $1::uuid is null or customer_id > $1
      group by customer_id order by customer_id limit $2`,
    [after, limit],
  );
  return rows.map((row) => row.customer_id);
}

/** Locks the customer's alerts: none is changed or evaluated elsewhere meanwhile. */
export async function lockAlerts(tx: Sql, customerId: string): Promise<void> {
  await tx.run('select from alerts where customer_id = $1 order by id for no key update', [customerId]);
}

/** Locks those servers that no change has locked. Returns their ids, and whether they still run. */
export async function lockFreeServers(
  tx: Sql,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly runs: boolean }[]> {
  return await tx.rows<{ id: string; runs: boolean }>(
    `select id, status = 'running' as runs from servers where id = any($1::uuid[])
      order by id for share skip locked`,
    [ids],
  );
}

interface Pair {
  readonly alert_id: string;
  readonly server_id: string;
}

/** Returns the pairs that did not fire before. */
export async function insertFirings(tx: Sql, pairs: readonly Pair[], since: Date): Promise<Pair[]> {
  return await tx.rows<Pair>(
    `insert into alert_firings (alert_id, server_id, since)
     select alert_id, server_id, $since from unnest($rows.alert_id::uuid[], $rows.server_id::uuid[])
         as pair (alert_id, server_id)
     on conflict do nothing returning alert_id, server_id`,
    { rows: pairs, since },
  );
}

/** Returns the pairs that fired. */
export async function deleteFirings(tx: Sql, pairs: readonly Pair[]): Promise<Pair[]> {
  return await tx.rows<Pair>(
    `delete from alert_firings f using unnest($rows.alert_id::uuid[], $rows.server_id::uuid[])
         as pair (alert_id, server_id)
      where f.alert_id = pair.alert_id and f.server_id = pair.server_id
     returning f.alert_id, f.server_id`,
    { rows: pairs },
  );
}

/** Ends all firings of an alert. Returns the servers for which it fired. */
export async function deleteFiringsOfAlert(tx: Sql, alertId: string): Promise<string[]> {
  const rows = await tx.rows<{ server_id: string }>(
    'delete from alert_firings where alert_id = $1 returning server_id',
    [alertId],
  );
  return rows.map((row) => row.server_id).toSorted();
}

/** Ends all firings for a server. Returns the alerts that fired. */
export async function deleteFiringsForServer(tx: Sql, serverId: string): Promise<string[]> {
  const rows = await tx.rows<{ alert_id: string }>(
    'delete from alert_firings where server_id = $1 returning alert_id',
    [serverId],
  );
  return rows.map((row) => row.alert_id).toSorted();
}
