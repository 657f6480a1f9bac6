/**
 * Names that the zones of reverse DNS may hold. A name's row is committed before the name is published, and deleted when it is
 * surely withdrawn: whatever is killed in between, what may be out there stands here. The address of a server that is gone
 * rests without an end while it has a row, so nobody gets an address with another's name.
 */
import type { Sql } from '../kernel/sql.ts';

/** What is wanted of an address: its name, or null where one is to be withdrawn. */
export interface DesiredName {
  readonly address: string;
  readonly host: string | null;
}

export type RdnsFault = 'no_zone' | 'refused';

/** What came of it. */
export interface RdnsResult extends DesiredName {
  readonly fault: RdnsFault | null;
}

/**
 * Notes all names of the server as published, and says what is wanted of every address of which a name may be out there. Of a server
 * that is gone nothing is wanted. It cannot go meanwhile: the caller's transaction keeps it.
 */
export async function planRdns(tx: Sql, serverId: string): Promise<DesiredName[]> {
  await tx.run('select from servers where id = $1 for share', [serverId]);
  await tx.run(
    `insert into published_rdns as d (address, server_id, host)
     select key::inet, s.id, value from servers s, jsonb_each_text(s.rdns) where s.id = $1 order by key::inet
     on conflict (address) do update set server_id = excluded.server_id, host = excluded.host, free_from = null,
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
 * Keeps what was done. Returns other servers that these addresses belong to by now: somebody who held the task for too long may have
 * undone theirs.
 */
export async function recordRdnsResults(
  tx: Sql,
  serverId: string,
  outcomes: readonly RdnsResult[],
): Promise<string[]> {
  // In one order, and before anything else: two who hold the same task wait for each other here.
  await tx.run('select from published_rdns where server_id = $1 order by address for update', [serverId]);
  await deleteWithdrawn(
    tx,
    serverId,
    outcomes.filter(({ host, fault }) => host === null && fault === null).map(({ address }) => address),
  );
  const kept = outcomes.filter(({ host, fault }) => host !== null || fault !== null);
  // A row that is gone comes back: the name was published after it had been withdrawn.
  await tx.run(
    `insert into published_rdns (address, server_id, host, fault)
     select address, $1, host, fault from unnest($2::inet[], $3::text[], $4::text[]) as o (address, host, fault)
      where host is not null order by address
     on conflict (address) do nothing`,
    [
      serverId,
      kept.map(({ address }) => address),
      kept.map(({ host }) => host),
      kept.map(({ fault }) => fault),
    ],
  );
  await tx.run(
    `update published_rdns d set fault = o.fault
       from unnest($2::inet[], $3::text[]) as o (address, fault) where d.address = o.address and d.server_id = $1`,
    [serverId, kept.map(({ address }) => address), kept.map(({ fault }) => fault)],
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

/** The server is gone: its addresses rest until their names are withdrawn, and at least until `freeFrom`. Whether there are any. */
export async function reserveNamedAddresses(tx: Sql, serverId: string, freeFrom: Date): Promise<boolean> {
  const held = await tx.run('update published_rdns set free_from = $2 where server_id = $1', [
    serverId,
    freeFrom,
  ]);
  if (held === 0) return false;
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

/** These addresses of a server that is gone may go to somebody else, when they have rested; a /64 with the last of its names. */
async function releaseReserved(tx: Sql, serverId: string, addresses: readonly string[]): Promise<void> {
  await tx.run(
    `update ipv4_addresses a set free_from = d.free_from from published_rdns d
      where d.server_id = $1 and d.address = any($2::inet[]) and d.free_from is not null
        and a.addr = d.address and a.server_id is null and a.free_from = 'infinity'`,
    [serverId, addresses],
  );
  await tx.run(
    `update ipv6_prefixes p set free_from = d.free_from from published_rdns d
      where d.server_id = $1 and d.address = any($2::inet[]) and d.free_from is not null and family(d.address) = 6
        and p.prefix = network(set_masklen(d.address, 64)) and p.server_id is null and p.free_from = 'infinity'
        and not exists (select from published_rdns more
                         where more.server_id = $1 and more.address <<= p.prefix and more.address <> all($2::inet[]))`,
    [serverId, addresses],
  );
}

/** Nobody serves the zones any more, as far as this service knows: what may be in them holds up no address. */
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

/** Servers with a name that is not among the published ones, as when it was set before anybody served the zones. */
export async function countUnpublishedRdns(tx: Sql): Promise<bigint> {
  const row = await tx.row<{ n: bigint }>(
    `select count(*) as n from servers s
      where s.rdns <> '{}' and exists (select from jsonb_object_keys(s.rdns) as named
        where not exists (select from published_rdns d where d.address = named::inet and d.server_id = s.id))`,
  );
  return row?.n ?? 0n;
}

/** All servers that have names, or had some that may be out there; `fault`: those with a name that could not be published. */
export async function listServersWithRdns(tx: Sql, only: 'all' | 'faulty'): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    only === 'all'
      ? `select id from servers where rdns <> '{}' union select server_id from published_rdns`
      : 'select distinct server_id as id from published_rdns where fault is not null',
  );
  return rows.map(({ id }) => id);
}
