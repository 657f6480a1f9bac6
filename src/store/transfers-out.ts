/** What servers send in a calendar month, and which of them are slow because it was more than their plans include. */
import type { Sql } from '../kernel/sql.ts';

/** Bytes in a tebibyte, by which plans count. */
const TIB_SQL = '1099511627776';

export interface SentTrafficRow {
  readonly server_id: string;
  readonly throttled: boolean;
  /** It has sent more than its plan includes. */
  readonly over: boolean;
}

/**
 * Adds up server by server, from their hourly means, what servers have sent in the month that begins at `month`; the hour of `now` as far as
 * it has come. What was written of a month only rises in it. By id, from after `after` on; those that are just being
 * changed are counted the next time. Returns what was looked at.
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
     present as materialized (
       select id from servers where id in (select id from batch) for key share skip locked),
     sent as materialized (
       select b.id, u.bytes from batch b cross join lateral (
         select coalesce(sum(m.net_out_bps * greatest(0, least(3600, extract(epoch from $3 - m.hour)))), 0)::bigint as bytes
           from metrics m where m.server_id = b.id and m.hour >= $2) u),
     kept as (
       insert into transfers_out as t (server_id, month, bytes)
       select id, $2::timestamptz at time zone 'UTC', bytes from sent where id in (select id from present)
       on conflict (server_id) do update
          set month = excluded.month,
              bytes = case when t.month = excluded.month then greatest(t.bytes, excluded.bytes) else excluded.bytes end
       returning server_id, bytes)
     select b.id as server_id, b.throttled,
            coalesce(k.bytes > b.transfer_tb * ${TIB_SQL}, b.throttled) as over
       from batch b left join kept k on k.server_id = b.id order by b.id`,
    [page.after, page.month, page.now, page.limit],
  );
}

/** False when it is so already, or the server is gone. */
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

/** Undefined when nothing was counted yet. */
export async function findSentTransfer(tx: Sql, serverId: string): Promise<SentTransferRow | undefined> {
  return await tx.row<SentTransferRow>(
    `select t.month::timestamp at time zone 'UTC' as month, t.bytes, p.transfer_tb as allowed_tb, s.throttled
       from transfers_out t join servers s on s.id = t.server_id join plans p on p.id = s.plan_id
      where t.server_id = $1`,
    [serverId],
  );
}
