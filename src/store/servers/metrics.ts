/** Hourly metrics of servers, and when each server is sampled next. */
import type { Sql } from '../../kernel/sql.ts';
import type { HourSample } from '../../ports/compute.ts';
import { assignmentsFor } from '../parameters.ts';

export interface MetricsRow {
  readonly hour: Date;
  readonly cpu_pct: number;
  readonly ram_mb: number;
  readonly disk_read_bps: number;
  readonly disk_write_bps: number;
  readonly net_in_bps: number;
  readonly net_out_bps: number;
}

const VALUES = 'cpu_pct, ram_mb, disk_read_bps, disk_write_bps, net_in_bps, net_out_bps';

/**
 * Lists the hours of the customer's own server since `since`, oldest first; undefined for an unknown server.
 */
export async function findMetrics(
  tx: Sql,
  customerId: string,
  serverId: string,
  since: Date,
): Promise<MetricsRow[] | undefined> {
  const rows = await tx.rows<{ [Key in keyof MetricsRow]: MetricsRow[Key] | null }>(
    `select m.hour, m.${VALUES.replaceAll(', ', ', m.')}
       from servers s left join metrics m on m.server_id = s.id and m.hour >= $3
      where s.id = $1 and s.customer_id = $2 order by m.hour`,
    [serverId, customerId, since],
  );
  // A server without metrics returns one row of nulls.
  return rows.length === 0 ? undefined : rows.filter((row): row is MetricsRow => row.hour !== null);
}

/**
 * Schedules the sampling of servers that have run and are not scheduled yet. Servers on dedicated machines
 * count only with `machines`: a driver can report them. Returns how many were added.
 */
export async function enrollServers(
  tx: Sql,
  { now, limit, machines }: { readonly now: Date; readonly limit: number; readonly machines: boolean },
): Promise<number> {
  return await tx.run(
    `with fresh as (
       update servers set sampled = true
         where id in (select id from servers
                       where first_run_at is not null and not sampled and ($3 or machine_id is null)
                       limit $2 for no key update skip locked)
       returning id)
     insert into samplings (server_id, due_at) select id, $1 from fresh on conflict do nothing`,
    [now, limit, machines],
  );
}

export interface DueSampling {
  readonly server_id: string;
  /** The last saved hour; null when there is none. */
  readonly last_hour: Date | null;
}

/** Claims due samplings by moving them to `nextAt`. If the process dies, they simply run then. */
export async function claimSamplings(
  tx: Sql,
  claim: { readonly now: Date; readonly nextAt: Date; readonly limit: number },
): Promise<DueSampling[]> {
  return await tx.rows<DueSampling>(
    `update samplings set due_at = $2
      where server_id in (select server_id from samplings where due_at <= $1
                           order by due_at limit $3 for update skip locked)
     returning server_id, last_hour`,
    [claim.now, claim.nextAt, claim.limit],
  );
}

/** Inserts or updates hours. Servers locked by a change are skipped until the next run. */
export async function saveSamples(tx: Sql, samples: readonly HourSample[]): Promise<void> {
  await tx.run(
    `with unlocked as materialized (
       select id from servers where id = any($samples.id::uuid[]) for key share skip locked),
     saved as (
       insert into metrics (server_id, hour, ${VALUES})
       select v.*
         from unnest($samples.id::uuid[], $samples.hour::timestamptz[], $samples.cpuPct::float8[],
                     $samples.ramMb::float8[], $samples.diskReadBps::float8[],
                     $samples.diskWriteBps::float8[], $samples.netInBps::float8[],
                     $samples.netOutBps::float8[])
           as v (server_id, hour, ${VALUES})
        where v.server_id in (select id from unlocked)
       on conflict (server_id, hour) do update
         set ${assignmentsFor(VALUES, 'excluded.')}
       returning server_id, hour)
     update samplings s set last_hour = latest.hour
       from (select server_id, max(hour) as hour from saved group by server_id) as latest
      where s.server_id = latest.server_id`,
    { samples },
  );
}
