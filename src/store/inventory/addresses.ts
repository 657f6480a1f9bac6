/**
 * The address pool. Blocks are expanded to one row for each IPv4 address and each IPv6 /64, so that assigning
 * one locks a row and no two servers share one. Only servers/deploy.ts and servers/placements.ts assign and
 * release.
 */
import type { Sql } from '../../kernel/sql.ts';

export interface BlockRow {
  readonly id: string;
  readonly region_id: string;
  readonly family: 4 | 6;
  readonly block: string;
  readonly gateway: string;
  readonly created_at: Date;
}

/** Waits until no other process adds blocks. */
export async function lockBlocks(tx: Sql): Promise<void> {
  await tx.run('lock table ip_blocks in share row exclusive mode');
}

/** Returns which of these blocks are already in the pool, spelled as given. */
export async function findKnownBlocks(tx: Sql, blocks: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ block: string }>(
    `select wanted as block from unnest($1::text[]) as wanted
      where exists (select from ip_blocks where block = wanted::cidr)`,
    [blocks],
  );
  return rows.map((row) => row.block);
}

/** Finds a block of the pool that overlaps this one. */
export async function findOverlappingBlock(tx: Sql, block: string): Promise<string | undefined> {
  const row = await tx.row<{ block: string }>(
    'select block::text as block from ip_blocks where block && $1::cidr order by block limit 1',
    [block],
  );
  return row?.block;
}

/** Lists all blocks of the pool, by region. */
export async function listBlocks(tx: Sql): Promise<Pick<BlockRow, 'region_id' | 'block'>[]> {
  return await tx.rows(
    'select region_id, block::text as block from ip_blocks order by region_id, ip_blocks.block',
  );
}

export async function insertBlock(tx: Sql, row: BlockRow): Promise<void> {
  await tx.run(
    `insert into ip_blocks (id, region_id, family, block, gateway, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [row.id, row.region_id, row.family, row.block, row.gateway, row.created_at],
  );
}

/**
 * Adds the addresses `from` to `to` of an IPv4 block (its first address is number 0), except its gateway.
 * Returns how many.
 */
export async function insertIpv4Addresses(
  tx: Sql,
  block: BlockRow,
  range: { readonly from: number; readonly to: number },
): Promise<number> {
  return await tx.run(
    `insert into ipv4_addresses (addr, block_id, region_id, gateway, free_from)
     select addr, $id, $region_id, $gateway::inet, $created_at
       from generate_series($from::int, $to::int) as n, set_masklen($block::cidr::inet + n, 32) as addr
      where addr <> $gateway::inet`,
    { ...block, ...range },
  );
}

/** Adds the first `count` /64s of an IPv6 block (65,536 at most), except a /64 that contains its gateway. */
export async function insertIpv6Prefixes(tx: Sql, block: BlockRow, count: number): Promise<number> {
  // The fourth group of the address is the number of its /64.
  return await tx.run(
    `insert into ipv6_prefixes (prefix, block_id, region_id, free_from)
     select prefix, $2, $3, $4
       from generate_series(0, $5::int - 1) as n,
            cast(set_masklen($1::cidr::inet | cast('0:0:0:' || to_hex(n) || '::' as inet), 64) as cidr)
              as prefix
      where not prefix >>= $6::inet`,
    [block.block, block.id, block.region_id, block.created_at, count, block.gateway],
  );
}

/** Blocks every address of the range, or unblocks it. Servers keep the addresses that they have. */
export async function setAddressesBlocked(
  tx: Sql,
  range: string,
  blocked: boolean,
): Promise<{ readonly changed: number; readonly assigned: number }> {
  const rows = await tx.rows<{ assigned: boolean }>(
    `with four as (
       update ipv4_addresses set blocked = $2 where addr <<= $1::inet and blocked <> $2
       returning server_id is not null as assigned),
     six as (
       update ipv6_prefixes set blocked = $2 where prefix && $1::inet and blocked <> $2
       returning server_id is not null as assigned)
     select assigned from four union all select assigned from six`,
    [range, blocked],
  );
  return { changed: rows.length, assigned: rows.filter((row) => row.assigned).length };
}

/** Whether the pool has an address or a /64 in this range. */
export async function isInPool(tx: Sql, range: string): Promise<boolean> {
  const row = await tx.row<{ found: boolean }>(
    `select exists (select from ipv4_addresses where addr <<= $1::inet)
         or exists (select from ipv6_prefixes where prefix && $1::inet) as found`,
    [range],
  );
  return row?.found ?? false;
}

export interface PoolRow {
  readonly region_id: string;
  readonly family: 4 | 6;
  readonly free: bigint;
  readonly held: bigint;
  /** Released, and not yet available again. */
  readonly resting: bigint;
  readonly blocked: bigint;
}

/** A part of the pool for each state, so that each is counted from an index of its own. */
const countsOf = (table: 'ipv4_addresses' | 'ipv6_prefixes', family: 4 | 6) => `
  select region_id, ${family} as family, count(*) filter (where free_from <= $1) as free, 0 as held,
         count(*) filter (where free_from > $1) as resting, 0 as blocked
    from ${table} where server_id is null and not blocked group by region_id
  union all
  select region_id, ${family}, 0, count(*), 0, 0 from ${table} where server_id is not null group by region_id
  union all
  select region_id, ${family}, 0, 0, 0, count(*) from ${table} where server_id is null and blocked
   group by region_id`;

/** Counts the pool by region and family; each address is in exactly one column. */
export async function countPool(tx: Sql, now: Date): Promise<PoolRow[]> {
  return await count(tx, `${countsOf('ipv4_addresses', 4)} union all ${countsOf('ipv6_prefixes', 6)}`, now);
}

export async function countIpv4Pool(tx: Sql, now: Date): Promise<PoolRow[]> {
  return await count(tx, countsOf('ipv4_addresses', 4), now);
}

/** The IPv4 pools of regions with fewer than `enough` free addresses. Others are not counted to the end. */
export async function countLowIpv4Pools(tx: Sql, now: Date, enough: number): Promise<PoolRow[]> {
  const rows = await tx.rows<{ region_id: string }>(
    `select region_id from (select distinct region_id from ip_blocks where family = 4) as pools
      where (select count(*) from (
               select from ipv4_addresses a
                where a.region_id = pools.region_id and server_id is null and not blocked and free_from <= $1
                limit $2) as found) < $2`,
    [now, enough],
  );
  if (rows.length === 0) return [];
  const low = new Set(rows.map((row) => row.region_id));
  return (await countIpv4Pool(tx, now)).filter((row) => low.has(row.region_id));
}

async function count(tx: Sql, counts: string, now: Date): Promise<PoolRow[]> {
  return await tx.rows<PoolRow>(
    `select region_id, family, sum(free)::bigint as free, sum(held)::bigint as held,
            sum(resting)::bigint as resting, sum(blocked)::bigint as blocked
       from (${counts}) as counted group by region_id, family order by region_id, family`,
    [now],
  );
}

/** Returns one unassigned address of each block of these regions: for IPv6, the first of a /64. */
export async function listUnusedAddresses(tx: Sql, regionIds: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ address: string | null }>(
    `select coalesce(
              (select host(min(addr)) from ipv4_addresses where block_id = b.id and server_id is null),
              (select host(min(prefix::inet)) from ipv6_prefixes where block_id = b.id and server_id is null)
            ) as address
       from ip_blocks b where region_id = any($1::text[]) order by b.block`,
    [regionIds],
  );
  return rows.flatMap(({ address }) => address ?? []);
}
