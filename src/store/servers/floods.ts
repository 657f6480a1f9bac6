/** Floods of packets, and what was measured of them. */
import type { Sql } from '../../kernel/sql.ts';
import type { FloodDirection, FloodEnding } from '../../spec/staff/floods.ts';
import { conditionsFor, parametersFor } from '../parameters.ts';

/** `addresses`: the server got others. */
export type LiftedBy = 'time' | 'staff' | 'addresses';

export interface FloodRow {
  readonly id: string;
  readonly server_id: string;
  readonly customer_id: string;
  readonly direction: FloodDirection;
  readonly family: 4 | 6;
  /** In a row, above the limit. */
  readonly samples: number;
  readonly peak_packets_per_s: bigint;
  readonly peak_bits_per_s: bigint;
  readonly began_at: Date;
  readonly last_seen_at: Date;
  readonly noticed_at: Date | null;
  readonly ended_at: Date | null;
  readonly ending: FloodEnding | null;
  readonly blackholed_at: Date | null;
  readonly blackhole_until: Date | null;
  readonly blackholes: number;
  readonly lifted_at: Date | null;
  readonly lifted_by: LiftedBy | null;
}

const MEASURED = 'samples, peak_packets_per_s, peak_bits_per_s, began_at, last_seen_at, noticed_at, family';
const NEW = `id, server_id, customer_id, direction, ${MEASURED}`;
const COLUMNS = `${NEW}, ended_at, ending, blackholed_at, blackhole_until, blackholes, lifted_at, lifted_by`;

/** Running servers on machines that a driver runs, by id. */
export async function listWatchedServers(
  sql: Sql,
  page: { readonly after: string | null; readonly limit: number },
): Promise<{ readonly id: string; readonly customer_id: string }[]> {
  return await sql.rows(
    `select id, customer_id from servers
      where status = 'running' and machine_id is null and ($1::uuid is null or id > $1)
      order by id limit $2`,
    [page.after, page.limit],
  );
}

/** The open floods of these servers, suspected ones included. */
export async function listOpenFloods(sql: Sql, serverIds: readonly string[]): Promise<FloodRow[]> {
  return await sql.rows<FloodRow>(
    `select ${COLUMNS} from floods where ended_at is null and server_id = any($1::uuid[])`,
    [serverIds],
  );
}

export type NewFlood = Pick<FloodRow, 'id' | 'server_id' | 'customer_id' | 'direction' | keyof Measured>;
export type Measured = Pick<
  FloodRow,
  'samples' | 'peak_packets_per_s' | 'peak_bits_per_s' | 'began_at' | 'last_seen_at' | 'noticed_at' | 'family'
>;

/** Does nothing if the server has an open flood in this direction, or is gone. */
export async function insertFlood(sql: Sql, flood: NewFlood): Promise<void> {
  await sql.run(
    `insert into floods (${NEW}) select ${parametersFor(NEW)}
      where exists (select from servers where id = $server_id)
     on conflict (server_id, direction) where ended_at is null do nothing`,
    flood,
  );
}

/** Stores a sample, unless the flood has ended or another process stored a later one. */
export async function saveSample(sql: Sql, id: string, measured: Measured): Promise<void> {
  await sql.run(
    `update floods
        set samples = $samples, family = $family, began_at = $began_at, last_seen_at = $last_seen_at,
            noticed_at = $noticed_at, peak_packets_per_s = $peak_packets_per_s,
            peak_bits_per_s = $peak_bits_per_s
      where id = $id and ended_at is null and last_seen_at <= $last_seen_at`,
    { ...measured, id },
  );
}

/** A sample below the limit: the next ones above it begin a new row. */
export async function resetSamples(sql: Sql, id: string): Promise<void> {
  await sql.run('update floods set samples = 0 where id = $1 and samples > 0', [id]);
}

/** Deletes a flood that was only suspected. */
export async function forgetSuspicion(sql: Sql, id: string): Promise<void> {
  await sql.run('delete from floods where id = $1 and noticed_at is null', [id]);
}

/** Ends the floods of deleted servers, and those that were quiet since then and are not blackholed. */
export async function endFloods(
  sql: Sql,
  { now, quietSince }: { readonly now: Date; readonly quietSince: Date },
): Promise<void> {
  await sql.run(
    `update floods f
        set ended_at = $1, ending = case when s.id is null then 'server_deleted' else 'stopped' end
       from floods o left join servers s on s.id = o.server_id
      where f.id = o.id and f.ended_at is null and f.noticed_at is not null
        and (s.id is null
          or (f.last_seen_at <= $2 and coalesce(f.lifted_at <= $2, true)
              and not exists (select from blackholes b where b.server_id = f.server_id)))`,
    [now, quietSince],
  );
  await sql.run('delete from floods where ended_at is null and noticed_at is null and last_seen_at <= $1', [
    quietSince,
  ]);
}

export async function markBlackholed(
  tx: Sql,
  mark: { readonly id: string; readonly until: Date; readonly now: Date },
): Promise<void> {
  await tx.run(
    `update floods
        set blackholed_at = $now, blackhole_until = $until, blackholes = blackholes + 1, samples = 0,
            lifted_at = null, lifted_by = null
      where id = $id`,
    mark,
  );
}

/** The floods of a server whose blackhole was lifted. */
export async function markLifted(
  tx: Sql,
  lift: { readonly serverId: string; readonly by: LiftedBy; readonly now: Date },
): Promise<void> {
  await tx.run(
    `update floods set lifted_at = $now, lifted_by = $by, samples = 0
      where server_id = $serverId and ended_at is null and blackholed_at is not null and lifted_at is null`,
    lift,
  );
}

/** At the deletion of an account. */
export async function deleteFloodsOf(tx: Sql, customerId: string): Promise<void> {
  await tx.run('delete from floods where customer_id = $1', [customerId]);
}

export type ShownFloodRow = FloodRow & {
  readonly email: string;
  /** Null: the server was deleted. */
  readonly server_name: string | null;
  readonly host: string | null;
  /** An address of the server, now, of the family. */
  readonly address: string | null;
  /** Of the server, now. */
  readonly is_blackholed: boolean;
};

const SELECT = `select ${COLUMNS.replace(/\w+/g, 'f.$&')}, c.email, s.name as server_name, h.name as host,
    b.server_id is not null as is_blackholed,
    case f.family when 4 then host(a.addr) else host(p.prefix) end as address
  from floods f join customers c on c.id = f.customer_id
  left join servers s on s.id = f.server_id left join hosts h on h.id = s.host_id
  left join blackholes b on b.server_id = f.server_id
  left join ipv4_addresses a on a.server_id = f.server_id
  left join ipv6_prefixes p on p.server_id = f.server_id`;

/** Omitted fields match everything. */
export interface FloodFilter {
  readonly direction?: FloodDirection;
  readonly customerId?: string;
  readonly serverId?: string;
  readonly open?: true;
  readonly blackholed?: true;
  readonly ended?: true;
  readonly beforeId?: string;
}

const CONDITIONS = {
  direction: 'f.direction = $direction',
  customerId: 'f.customer_id = $customerId',
  serverId: 'f.server_id = $serverId',
  // The condition of the index.
  open: 'f.ended_at is null and b.server_id is null',
  blackholed: 'f.ended_at is null and b.server_id is not null',
  ended: 'f.ended_at is not null',
  beforeId: 'f.id < $beforeId',
};

export async function listFloods(sql: Sql, filter: FloodFilter, limit: number): Promise<ShownFloodRow[]> {
  return await sql.rows<ShownFloodRow>(
    `${SELECT} where f.noticed_at is not null and ${conditionsFor(filter, CONDITIONS)}
      order by f.id desc limit $limit`,
    { ...filter, limit },
  );
}

export async function findFlood(sql: Sql, id: string): Promise<ShownFloodRow | undefined> {
  return await sql.row<ShownFloodRow>(`${SELECT} where f.id = $1 and f.noticed_at is not null`, [id]);
}
