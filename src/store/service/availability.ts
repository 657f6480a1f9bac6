/** Availability of the components of the public status page: the latest measurement, and sums by day. */
import type { Sql } from '../../kernel/sql.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

/** Null, the last five: not a region, or nothing to measure. */
export interface Measurement {
  readonly component: string;
  /** How much is unavailable, from 0 to 1. */
  readonly lost: number;
  readonly hosts: number | null;
  readonly hosts_up: number | null;
  readonly free_share: number | null;
  readonly deploys: number | null;
  readonly deploy_median_s: number | null;
}

export interface CheckRow extends Measurement {
  readonly lost_since: Date | null;
  readonly checked_at: Date;
  /** Seconds since the check on the database's clock. */
  readonly real_age_s: number;
}

const MEASURED = 'component, lost, hosts, hosts_up, free_share, deploys, deploy_median_s';

export async function listChecks(tx: Sql): Promise<CheckRow[]> {
  return await tx.rows<CheckRow>(
    `select ${MEASURED}, lost_since, checked_at,
            extract(epoch from clock_timestamp() - checked_real_at)::float8 as real_age_s
       from component_checks order by component like 'region:%', component`,
  );
}

const CHECK = `${MEASURED}, lost_since, checked_at`;

export async function saveCheck(tx: Sql, row: Omit<CheckRow, 'real_age_s'>): Promise<void> {
  await tx.run(
    `insert into component_checks (${CHECK}, checked_real_at)
     values (${parametersFor(CHECK)}, clock_timestamp())
     on conflict (component) do update
       set ${assignmentsFor(CHECK.replace('component, ', ''))}, checked_real_at = excluded.checked_real_at`,
    row,
  );
}

/** Deletes the checks of components that are no longer measured. Their days remain until they expire. */
export async function deleteOtherChecks(tx: Sql, components: readonly string[]): Promise<void> {
  await tx.run('delete from component_checks where component <> all ($1::text[])', [components]);
}

export interface AvailabilityRow {
  readonly component: string;
  readonly day: Date;
  readonly measured_s: number;
  readonly lost_s: number;
  readonly maintenance_s: number;
}

const DAY = 'component, day, measured_s, lost_s, maintenance_s';

export async function addAvailability(tx: Sql, row: AvailabilityRow): Promise<void> {
  await tx.run(
    `insert into availability as a (${DAY}) values (${parametersFor(DAY)})
     on conflict (component, day) do update
       set measured_s = a.measured_s + excluded.measured_s, lost_s = a.lost_s + excluded.lost_s,
           maintenance_s = a.maintenance_s + excluded.maintenance_s`,
    row,
  );
}

export async function listAvailability(tx: Sql, since: Date): Promise<AvailabilityRow[]> {
  return await tx.rows<AvailabilityRow>(`select ${DAY} from availability where day >= $1`, [since]);
}

export interface RegionHealthRow {
  readonly region_id: string;
  readonly hosts: number;
  readonly hosts_up: number;
  readonly free_share: number | null;
}

/** Counts the hosts of each region that were seen once and are neither lost nor revoked. */
export async function listRegionHealth(
  tx: Sql,
  { awayS }: { readonly awayS: number },
): Promise<RegionHealthRow[]> {
  return await tx.rows<RegionHealthRow>(
    `select h.region_id, count(*)::int as hosts,
            count(*) filter (
              where f.away_since is null
                 or f.away_since > clock_timestamp() - make_interval(secs => $1))::int as hosts_up,
            sum(h.ram_mb - h.used_ram_mb) filter (where not h.draining)::float8
              / nullif(sum(h.ram_mb), 0) as free_share
       from hosts h join regions r on r.id = h.region_id join host_facts f on f.host_id = h.id
            left join backends b on b.name = h.backend
      where r.active and f.seen_at is not null and h.lost_at is null
        and coalesce(b.state, '') <> 'revoked'
      group by h.region_id order by h.region_id`,
    [awayS],
  );
}

export interface DeployTimesRow {
  readonly region_id: string;
  readonly deploys: number;
  readonly median_s: number;
}

/** Returns the median duration of successful deploys since then, from the order to a reachable server. */
export async function listDeployTimes(tx: Sql, since: Date): Promise<DeployTimesRow[]> {
  return await tx.rows<DeployTimesRow>(
    `select s.region_id, count(*)::int as deploys,
            percentile_cont(0.5) within group (
              order by extract(epoch from a.finished_at - a.created_at)::float8) as median_s
       from actions a join servers s on s.id = a.server_id
      where a.command = 'server.create' and a.status = 'success' and a.finished_at >= $1
      group by s.region_id`,
    [since],
  );
}

/** Whether a webhook has a delivery that was due before then. */
export async function hasLateWebhooks(tx: Sql, before: Date): Promise<boolean> {
  const row = await tx.row<{ late: boolean }>(
    'select exists (select from webhook_queues where not slow and due_at < $1) as late',
    [before],
  );
  return row?.late ?? false;
}
