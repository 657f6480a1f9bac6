/** Hosts that run virtual servers, and the machines sold as dedicated servers. */
import type { Sql } from '../../kernel/sql.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface HostRow {
  readonly name: string;
  readonly region_id: string;
  readonly cpu: number;
  readonly ram_mb: number;
  readonly disk_gb: number;
  readonly used_ram_mb: number;
  readonly used_disk_gb: number;
  readonly draining: boolean;
  readonly tags: readonly string[];
  readonly reserve_ram_mb: number;
  readonly reserve_disk_gb: number;
  /** Null: the machine that the service runs on. */
  readonly backend: string | null;
  /** When the operator gave it up, and when it was off for good. */
  readonly lost_at: Date | null;
  readonly fenced_at: Date | null;
  /** How many servers are placed on it. */
  readonly servers: bigint;
}

export interface NewHostRow
  extends Pick<
    HostRow,
    | 'name'
    | 'region_id'
    | 'cpu'
    | 'ram_mb'
    | 'disk_gb'
    | 'tags'
    | 'reserve_ram_mb'
    | 'reserve_disk_gb'
    | 'backend'
  > {
  readonly id: string;
  readonly created_at: Date;
}

/**
 * Returns which of the names are taken. Hosts and machines share one namespace: drivers know both by name
 * only.
 */
export async function findTakenNames(tx: Sql, names: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ name: string }>(
    `select name from hosts where name = any ($1::text[])
     union all select name from machines where name = any ($1::text[])`,
    [names],
  );
  return rows.map((row) => row.name);
}

const NEW_HOST =
  'id, name, region_id, cpu, ram_mb, disk_gb, tags, reserve_ram_mb, reserve_disk_gb, backend, created_at';

export async function insertHost(tx: Sql, row: NewHostRow): Promise<void> {
  await tx.run(`insert into hosts (${NEW_HOST}) values (${parametersFor(NEW_HOST)})`, row);
}

/** Locks the host: its size and its used capacity do not change until the transaction ends. */
export async function lockHost(
  tx: Sql,
  name: string,
): Promise<(Omit<HostRow, 'name' | 'region_id' | 'draining' | 'servers'> & { id: string }) | undefined> {
  return await tx.row(
    `select id, cpu, ram_mb, disk_gb, used_ram_mb, used_disk_gb, tags, reserve_ram_mb, reserve_disk_gb,
            backend, lost_at, fenced_at
       from hosts where name = $1 for update`,
    [name],
  );
}

export interface HostPlaceRow {
  readonly id: string;
  readonly region_id: string;
  readonly draining: boolean;
  readonly lost: boolean;
  readonly backend: string | null;
}

export async function findHostPlace(tx: Sql, name: string): Promise<HostPlaceRow | undefined> {
  return await tx.row<HostPlaceRow>(
    'select id, region_id, draining, lost_at is not null as lost, backend from hosts where name = $1',
    [name],
  );
}

/** Sets how many servers leave the host at a time. */
export async function setConcurrentMoves(tx: Sql, id: string, atOnce: number): Promise<void> {
  await tx.run('update hosts set concurrent_moves = $2 where id = $1', [id, atOnce]);
}

export async function setHostSize(
  tx: Sql,
  name: string,
  size: Pick<HostRow, 'cpu' | 'ram_mb' | 'disk_gb'>,
): Promise<void> {
  await tx.run(`update hosts set ${assignmentsFor('cpu, ram_mb, disk_gb')} where name = $name`, {
    ...size,
    name,
  });
}

export async function setHostPlacement(
  tx: Sql,
  name: string,
  placement: {
    readonly tags: readonly string[];
    readonly reserveRamMb: number;
    readonly reserveDiskGb: number;
  },
): Promise<void> {
  const { tags, reserveRamMb, reserveDiskGb } = placement;
  await tx.run('update hosts set tags = $2, reserve_ram_mb = $3, reserve_disk_gb = $4 where name = $1', [
    name,
    tags,
    reserveRamMb,
    reserveDiskGb,
  ]);
}

/**
 * Sets whether the host accepts new servers. Returns the previous value, or undefined if the host is unknown.
 */
export async function setHostDraining(
  tx: Sql,
  name: string,
  draining: boolean,
): Promise<boolean | undefined> {
  const row = await tx.row<{ was: boolean }>(
    `with before as (select id, draining as was from hosts where name = $1 for update)
     update hosts h set draining = $2 from before where h.id = before.id returning was`,
    [name, draining],
  );
  return row?.was;
}

/** Whether servers, storage, moves, or held addresses are on the host. Its lock keeps new ones away. */
export async function isHostInUse(tx: Sql, name: string): Promise<boolean> {
  const row = await tx.row<{ used: boolean }>(
    `select exists (select from servers s where s.host_id = h.id)
         or exists (select from volumes v where v.host_id = h.id)
         or exists (select from snapshots n where n.host_id = h.id)
         or exists (select from ipv4_addresses a where a.held_by = h.id)
         or exists (select from ipv6_prefixes x where x.held_by = h.id)
         or exists (select from moves m where h.id in (m.from_host, m.to_host, m.wanted_host)) as used
       from hosts h where h.name = $1`,
    [name],
  );
  return row?.used ?? false;
}

export async function deleteHost(tx: Sql, name: string): Promise<void> {
  await tx.run('delete from hosts where name = $1', [name]);
}

export async function listHosts(tx: Sql): Promise<HostRow[]> {
  return await tx.rows<HostRow>(
    `select h.name, h.region_id, h.cpu, h.ram_mb, h.disk_gb, h.used_ram_mb, h.used_disk_gb, h.draining,
            h.tags, h.reserve_ram_mb, h.reserve_disk_gb, h.backend, h.lost_at, h.fenced_at,
            (select count(*) from servers s where s.host_id = h.id) as servers
       from hosts h order by h.region_id, h.name`,
  );
}

/** Adds machines of one plan in one region, free for sale. `ids` and `names` correspond by position. */
export async function insertMachines(
  tx: Sql,
  rows: {
    readonly ids: readonly string[];
    readonly names: readonly string[];
    readonly plan_id: string;
    readonly region_id: string;
    readonly created_at: Date;
  },
): Promise<void> {
  await tx.run(
    `insert into machines (id, name, plan_id, region_id, state, state_since, created_at)
     select id, name, $3, $4, 'free', $5, $5 from unnest($1::uuid[], $2::text[]) as m (id, name)`,
    [rows.ids, rows.names, rows.plan_id, rows.region_id, rows.created_at],
  );
}

export interface MachineStockRow {
  readonly region_id: string;
  readonly plan_id: string;
  readonly total: bigint;
  readonly free: bigint;
}

/** The stock of dedicated machines by region and plan. */
export async function countMachines(tx: Sql): Promise<MachineStockRow[]> {
  return await tx.rows<MachineStockRow>(
    `select region_id, plan_id, count(*) as total,
            count(*) filter (where state = 'free') as free
       from machines group by region_id, plan_id order by region_id, plan_id`,
  );
}
