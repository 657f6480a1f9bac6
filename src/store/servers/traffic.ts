/**
 * Outbound traffic of servers per calendar month, and which of them are throttled for exceeding their plan.
 */
import type { Sql } from '../../kernel/sql.ts';
import type { ServerStatus } from '../../spec/states.ts';

/** Bytes in a tebibyte, the unit of plans. */
const TIB_SQL = '1099511627776';

export interface SentTrafficRow {
  readonly server_id: string;
  readonly throttled: boolean;
  /** Its traffic exceeds the plan's transfer. */
  readonly over: boolean;
}

/**
 * Computes the servers' outbound traffic in the month that begins at `month` from their hourly means,
 * counting the hour of `now` up to `now`. A saved total only rises within its month. Processes a page by id
 * after `after`, and returns it; servers locked by a change are counted in the next run.
 */
export async function sumSentTraffic(
  tx: Sql,
  page: { readonly after: string | null; readonly month: Date; readonly now: Date; readonly limit: number },
): Promise<SentTrafficRow[]> {
  return await tx.rows<SentTrafficRow>(
    `with batch as materialized (
       select s.id, s.throttled, p.transfer_tb from servers s join plans p on p.id = s.plan_id
        where ($1::uuid is null or s.id > $1) and s.first_run_at is not null and s.status <> 'destroying'
        order by s.id limit $4),
     unlocked as materialized (
       select id from servers where id in (select id from batch) for key share skip locked),
     sent as materialized (
       select b.id, u.bytes from batch b cross join lateral (
         select coalesce(
                  sum(m.net_out_bps * greatest(0, least(3600, extract(epoch from $3 - m.hour)))), 0)::bigint
                  as bytes
           -- Not a condition of the index by hour: before the table's first analysis, it looks cheap.
           from metrics m where m.server_id = b.id and (m.hour >= $2) is true) u),
     saved as (
       insert into transfers_out as t (server_id, month, bytes)
       select id, $2::timestamptz at time zone 'UTC', bytes from sent where id in (select id from unlocked)
       on conflict (server_id) do update
          set month = excluded.month,
              bytes = case when t.month = excluded.month
                           then greatest(t.bytes, excluded.bytes) else excluded.bytes end
       returning server_id, bytes)
     select b.id as server_id, b.throttled,
            coalesce(k.bytes > b.transfer_tb * ${TIB_SQL}, b.throttled) as over
       from batch b left join saved k on k.server_id = b.id order by b.id`,
    [page.after, page.month, page.now, page.limit],
  );
}

/** Returns false when nothing changes or the server does not exist. */
export async function setThrottled(tx: Sql, serverId: string, throttled: boolean): Promise<boolean> {
  const changed = await tx.run('update servers set throttled = $2 where id = $1 and throttled <> $2', [
    serverId,
    throttled,
  ]);
  return changed === 1;
}

export interface SentTransferRow {
  readonly month: Date;
  readonly bytes: bigint;
  /** TiB a month, with two decimals. */
  readonly allowed_tb: string;
  readonly throttled: boolean;
}

/** Returns undefined when nothing was counted yet. */
export async function findSentTransfer(tx: Sql, serverId: string): Promise<SentTransferRow | undefined> {
  return await tx.row<SentTransferRow>(
    `select t.month::timestamp at time zone 'UTC' as month, t.bytes, p.transfer_tb as allowed_tb, s.throttled
       from transfers_out t join servers s on s.id = t.server_id join plans p on p.id = s.plan_id
      where t.server_id = $1`,
    [serverId],
  );
}

/** Returns what the customer's own server sent in a month; undefined for an unknown server. */
export async function findOwnTransfer(
  tx: Sql,
  wanted: { readonly customerId: string; readonly serverId: string; readonly month: Date },
): Promise<Pick<SentTransferRow, 'bytes' | 'allowed_tb'> | undefined> {
  return await tx.row<Pick<SentTransferRow, 'bytes' | 'allowed_tb'>>(
    `select coalesce(t.bytes, 0)::bigint as bytes, p.transfer_tb as allowed_tb
       from servers s join plans p on p.id = s.plan_id
       left join transfers_out t on t.server_id = s.id and t.month = $3::timestamptz at time zone 'UTC'
      where s.customer_id = $1 and s.id = $2`,
    [wanted.customerId, wanted.serverId, wanted.month],
  );
}

// ---- traffic limits, enforced outside the guest in addition to its firewall

export interface TrafficRow {
  readonly status: ServerStatus;
  readonly first_run_at: Date | null;
  readonly machine_id: string | null;
  /** Over its monthly transfer, so its bandwidth is limited. */
  readonly throttled: boolean;
  /** May connect to external mail servers. */
  readonly mail_allowed: boolean;
  /** Whose packets are dropped. */
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

/** Returns undefined when the server does not exist. */
export async function readTraffic(tx: Sql, serverId: string): Promise<TrafficRow | undefined> {
  return await tx.row<TrafficRow>(
    `select status, first_run_at, machine_id, throttled, mail_allowed, coalesce(ipv4, false) as ipv4,
            coalesce(ipv6, false) as ipv6
       from servers left join blackholes on server_id = id where id = $1`,
    [serverId],
  );
}

/** Returns false when nothing changes. The caller holds the server's lock. */
export async function setMailAllowed(tx: Sql, serverId: string, allowed: boolean): Promise<boolean> {
  const changed = await tx.run('update servers set mail_allowed = $2 where id = $1 and mail_allowed <> $2', [
    serverId,
    allowed,
  ]);
  return changed === 1;
}
