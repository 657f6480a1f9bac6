/**
 * Names that may be in the reverse DNS zones. A name's row is committed before the name is published, and
 * deleted only after a confirmed withdrawal, so a crash cannot leave a published name without a row. While it
 * has a row, the address of a deleted server stays reserved, so that no one receives an address with another
 * server's name.
 */
import type { Sql } from '../../kernel/sql.ts';

/** The desired state of an address: its name, or null to withdraw it. */
export interface DesiredName {
  readonly address: string;
  readonly host: string | null;
}

export type RdnsFault = 'no_zone' | 'refused';

/** The result of publishing or withdrawing a name. */
export interface RdnsResult extends DesiredName {
  readonly fault: RdnsFault | null;
}

/**
 * Records all names of the server as published. Returns the desired state of every address that may have a
 * published name; without a server, all are withdrawn. The lock keeps the server from being deleted
 * meanwhile.
 */
export async function planRdns(tx: Sql, serverId: string): Promise<DesiredName[]> {
  await tx.run('select from servers where id = $1 for share', [serverId]);
  await tx.run(
    `insert into published_rdns as d (address, server_id, host)
     select key::inet, s.id, value from servers s, jsonb_each_text(s.rdns) where s.id = $1 order by key::inet
     on conflict (address) do update set server_id = excluded.server_id, host = excluded.host,
        free_from = null,
        fault = case when d.server_id = excluded.server_id and d.host = excluded.host then d.fault end`,
    [serverId],
  );
  return await tx.rows<DesiredName>(
    `select host(d.address) as address, w.host
       from published_rdns d
       left join (select key::inet as address, value as host from servers s, jsonb_each_text(s.rdns)
                   where s.id = $1) w on w.address = d.address
      where d.server_id = $1 order by d.address`,
    [serverId],
  );
}

/**
 * Records the results. Returns other servers that own some of these addresses by now: a worker that held the
 * task for too long may have overwritten their names.
 */
export async function recordRdnsResults(
  tx: Sql,
  serverId: string,
  outcomes: readonly RdnsResult[],
): Promise<string[]> {
  // Lock in address order before anything else, so that two workers with the same task queue up here.
  await tx.run('select from published_rdns where server_id = $1 order by address for update', [serverId]);
  await deleteWithdrawn(
    tx,
    serverId,
    outcomes.filter(({ host, fault }) => host === null && fault === null).map(({ address }) => address),
  );
  const kept = outcomes.filter(({ host, fault }) => host !== null || fault !== null);
  // Insert a deleted row again: the name was published after it had been withdrawn.
  await tx.run(
    `insert into published_rdns (address, server_id, host, fault)
     select address, $serverId, host, fault
       from unnest($kept.address::inet[], $kept.host::text[], $kept.fault::text[]) as o (address, host, fault)
      where host is not null order by address
     on conflict (address) do nothing`,
    { kept, serverId },
  );
  await tx.run(
    `update published_rdns d set fault = o.fault
       from unnest($kept.address::inet[], $kept.fault::text[]) as o (address, fault)
      where d.address = o.address and d.server_id = $serverId`,
    { kept, serverId },
  );
  const others = await tx.rows<{ server_id: string }>(
    `select distinct server_id from published_rdns where address = any($2::inet[]) and server_id <> $1`,
    [serverId, outcomes.map(({ address }) => address)],
  );
  return others.map(({ server_id }) => server_id);
}

async function deleteWithdrawn(tx: Sql, serverId: string, addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  await releaseReserved(tx, serverId, addresses);
  await tx.run('delete from published_rdns where server_id = $1 and address = any($2::inet[])', [
    serverId,
    addresses,
  ]);
}

/**
 * Reserves the addresses of a deleted server until their names are withdrawn, and at least until `freeFrom`.
 * Returns whether there are any.
 */
export async function reserveNamedAddresses(tx: Sql, serverId: string, freeFrom: Date): Promise<boolean> {
  const reserved = await tx.run('update published_rdns set free_from = $2 where server_id = $1', [
    serverId,
    freeFrom,
  ]);
  if (reserved === 0) return false;
  await tx.run(
    `update ipv4_addresses set free_from = 'infinity'
      where addr in (select address from published_rdns where server_id = $1) and server_id is null`,
    [serverId],
  );
  await tx.run(
    `update ipv6_prefixes set free_from = 'infinity'
      where prefix in (select network(set_masklen(address, 64)) from published_rdns
                        where server_id = $1 and family(address) = 6) and server_id is null`,
    [serverId],
  );
  return true;
}

/**
 * Releases reserved addresses of a deleted server, a /64 with the last of its names. `free_from` still
 * applies.
 */
async function releaseReserved(tx: Sql, serverId: string, addresses: readonly string[]): Promise<void> {
  await tx.run(
    `update ipv4_addresses a set free_from = d.free_from from published_rdns d
      where d.server_id = $1 and d.address = any($2::inet[]) and d.free_from is not null
        and a.addr = d.address and a.server_id is null and a.free_from = 'infinity' and a.held_by is null`,
    [serverId, addresses],
  );
  await tx.run(
    `update ipv6_prefixes p set free_from = d.free_from from published_rdns d
      where d.server_id = $1 and d.address = any($2::inet[]) and d.free_from is not null
        and family(d.address) = 6 and p.prefix = network(set_masklen(d.address, 64))
        and p.server_id is null and p.free_from = 'infinity' and p.held_by is null
        and not exists (
          select from published_rdns other
           where other.server_id = $1 and other.address <<= p.prefix and other.address <> all($2::inet[]))`,
    [serverId, addresses],
  );
}

/** Releases the addresses of a deleted server when this service no longer serves their zones. */
export async function releaseUnservedAddresses(tx: Sql, serverId: string): Promise<void> {
  const rows = await tx.rows<{ address: string }>(
    'select host(address) as address from published_rdns where server_id = $1 order by address for update',
    [serverId],
  );
  await releaseReserved(
    tx,
    serverId,
    rows.map(({ address }) => address),
  );
}

export async function countRdnsFaults(tx: Sql): Promise<{ fault: RdnsFault; n: bigint }[]> {
  return await tx.rows(
    'select fault, count(*) as n from published_rdns where fault is not null group by fault order by fault',
  );
}

/** Counts servers with an unpublished name, such as names set before the zones were configured. */
export async function countUnpublishedRdns(tx: Sql): Promise<bigint> {
  const row = await tx.row<{ n: bigint }>(
    `select count(*) as n from servers s
      where s.rdns <> '{}' and exists (select from jsonb_object_keys(s.rdns) as named
        where not exists (
          select from published_rdns d where d.address = named::inet and d.server_id = s.id))`,
  );
  return row?.n ?? 0n;
}

/**
 * Lists servers that have, or may have, published names; `faulty` lists those with a name that failed to
 * publish.
 */
export async function listServersWithRdns(tx: Sql, only: 'all' | 'faulty'): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    only === 'all'
      ? `select id from servers where rdns <> '{}' union select server_id from published_rdns`
      : 'select distinct server_id as id from published_rdns where fault is not null',
  );
  return rows.map(({ id }) => id);
}
