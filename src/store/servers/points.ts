/**
 * Metrics by the minute and by five minutes. A row has up to 60 steps of a server, in an array that begins at
 * a multiple of its length, with six numbers for each step. A write merges the new steps into it, so that it
 * may be repeated. The last step of an array always has a sample.
 */
import type { Sql } from '../../kernel/sql.ts';
import { type FineStep, POINT_SERIES } from '../../spec/metrics.ts';

/** Steps in a row. */
export const POINTS_PER_ROW = 60;
/** Numbers of a step. */
export const POINT_WIDTH = POINT_SERIES.length;

export interface PointsRow {
  readonly starts_at: Date;
  readonly points: readonly (number | null)[];
}

export interface NewPoints {
  readonly server_id: string;
  readonly step_s: FineStep;
  readonly starts_at: Date;
  /** A number or null for each place of the array. */
  readonly points: readonly (number | null)[];
}

/** Merges steps into the stored rows. Servers locked by a change are skipped until the next run. */
export async function savePoints(tx: Sql, rows: readonly NewPoints[]): Promise<void> {
  await tx.run(
    `with unlocked as materialized (
       select id from servers where id = any($rows.server_id::uuid[]) for key share skip locked)
     insert into metric_points as m (server_id, step_s, starts_at, points)
     select v.server_id, v.step_s, v.starts_at, v.points::real[]
       from unnest($rows.server_id::uuid[], $rows.step_s::int2[], $rows.starts_at::timestamptz[],
                   $rows.points::text[]) as v (server_id, step_s, starts_at, points)
      where v.server_id in (select id from unlocked)
      order by v.server_id, v.step_s, v.starts_at
     on conflict (server_id, step_s, starts_at) do update
        set points = (select array_agg(coalesce(both_.new, both_.old) order by both_.place)
                        from unnest(excluded.points, m.points) with ordinality as both_ (new, old, place))`,
    { rows: rows.map((row) => ({ ...row, points: arrayText(row.points) })) },
  );
}

/** Arrays of different lengths cannot be one parameter, so each is a text. */
function arrayText(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Returns the rows of the customer's own server that end after `since`; undefined for an unknown server. */
export async function findPoints(
  tx: Sql,
  wanted: {
    readonly customerId: string;
    readonly serverId: string;
    readonly step: FineStep;
    readonly since: Date;
  },
): Promise<PointsRow[] | undefined> {
  const rows = await tx.rows<{ [Key in keyof PointsRow]: PointsRow[Key] | null }>(
    `select m.starts_at, m.points
       from servers s left join metric_points m on m.server_id = s.id and m.step_s = $step
        and m.starts_at > $since::timestamptz - make_interval(secs => $step::int * ${POINTS_PER_ROW})
      where s.id = $serverId and s.customer_id = $customerId order by m.starts_at`,
    wanted,
  );
  return rows.length === 0 ? undefined : rows.filter((row): row is PointsRow => row.starts_at !== null);
}

export interface MeteredServer {
  readonly server_id: string;
  /** The end of the last stored minute; null if none is stored. */
  readonly until: Date | null;
  readonly silent_since: Date | null;
}

/** Returns a page of the servers that should run, by id after `after`. */
export async function listMeteredServers(
  tx: Sql,
  page: { readonly after: string | null; readonly limit: number },
): Promise<MeteredServer[]> {
  return await tx.rows<MeteredServer>(
    `select g.server_id, g.silent_since, last.until
       from samplings g join servers s on s.id = g.server_id
       left join lateral (
         select m.starts_at + interval '1 minute' * (cardinality(m.points) / ${POINT_WIDTH}) as until
           from metric_points m where m.server_id = g.server_id and m.step_s = 60
          order by m.starts_at desc limit 1) last on true
      where s.status = 'running' and ($1::uuid is null or g.server_id > $1)
      order by g.server_id limit $2`,
    [page.after, page.limit],
  );
}

/** Notes since when servers are not seen running. `seen` are seen, or nothing is known about them. */
export async function markSilent(
  tx: Sql,
  mark: { readonly silent: readonly string[]; readonly seen: readonly string[]; readonly now: Date },
): Promise<void> {
  await tx.run(
    `update samplings set silent_since = case when server_id = any($silent::uuid[]) then $now::timestamptz end
      where (server_id = any($silent::uuid[]) and silent_since is null)
         or (server_id = any($seen::uuid[]) and silent_since is not null)`,
    mark,
  );
}

/** A server that need not run is not silent: its silence starts again. */
export async function forgetSilenceOfStopped(tx: Sql): Promise<void> {
  await tx.run(
    `update samplings g set silent_since = null from servers s
      where g.silent_since is not null and s.id = g.server_id and s.status <> 'running'`,
  );
}
