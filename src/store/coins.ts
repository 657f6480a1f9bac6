/**
 * What is kept of each coin: the next number for an address, how far its chain was read, and who reads it now.
 * Leases and back-off use the database's own clock, which all processes share.
 */
import type { Sql } from '../kernel/sql.ts';
import type { CoinCode } from '../spec/coins.ts';

export interface AllocatedIndex {
  readonly index: number;
  /** No block of its chain was read yet, and no invoice waits for that. */
  readonly isUnread: boolean;
}

/**
 * Takes a derivation number of a coin, one that was given back before a new one. It stays taken, whatever becomes of it, unless
 * it is given back.
 */
export async function allocateIndex(sql: Sql, coin: CoinCode): Promise<AllocatedIndex> {
  const row =
    (await sql.row<AllocatedIndex>(ALLOCATE_SPARE, [coin])) ??
    (await sql.row<AllocatedIndex>(ALLOCATE_NEW, [coin]));
  if (!row) throw new Error('no derivation number');
  return row;
}

/** A block that no chain has: a driver that goes on from a cursor with it looks for a fork, and begins some blocks earlier. */
const NO_BLOCK = '0'.repeat(64);
/** The mark of an invoice that was never made is none. */
const IS_UNREAD_SQL = `(coins.cursor is null
  or coins.cursor like '%:${NO_BLOCK}' and not exists (select from topups where topups.coin = coins.code))`;

const ALLOCATE_SPARE = `
  with spare as (
    select coin, index from spare_indexes where coin = $1 order by index limit 1 for update skip locked
  )
  delete from spare_indexes gone using spare where gone.coin = spare.coin and gone.index = spare.index
  returning gone.index, (select ${IS_UNREAD_SQL} from coins where code = $1) as "isUnread"`;

const ALLOCATE_NEW = `
  insert into coins (code, next_index) values ($1, 1)
  on conflict (code) do update set next_index = coins.next_index + 1
  returning next_index - 1 as index, ${IS_UNREAD_SQL} as "isUnread"`;

/** For the next one who takes: only a number of which no address was shown to anybody. */
export async function releaseIndex(sql: Sql, coin: CoinCode, index: number): Promise<void> {
  await sql.run('insert into spare_indexes (coin, index) values ($1, $2) on conflict do nothing', [
    coin,
    index,
  ]);
}

/** The highest number that may be next: there are 2^31 of them below an account, and two coins may share one. */
const INDEX_MAX = 1_000_000_000;

/**
 * Passes so many derivation numbers by, those that were given back included; what is next then, or null where there
 * are not so many left.
 */
export async function skipIndexes(tx: Sql, coin: CoinCode, count: number): Promise<number | null> {
  await tx.run('delete from spare_indexes where coin = $1', [coin]);
  const row = await tx.row<{ next: number }>(
    `insert into coins (code, next_index) values ($1, $2)
     on conflict (code) do update set next_index = coins.next_index + $2 where coins.next_index <= $3 - $2
     returning next_index as next`,
    [coin, count, INDEX_MAX],
  );
  return row?.next ?? null;
}

/**
 * Where the first poll begins, for it may come late. A cursor that is there already stays, unless the invoice that it was for was never
 * made: nobody polls for one that is not there, and the chain grows.
 */
export async function initializeCursor(sql: Sql, coin: CoinCode, height: number): Promise<void> {
  await sql.run(`update coins set cursor = $2 where code = $1 and ${IS_UNREAD_SQL}`, [
    coin,
    `${height}:${NO_BLOCK}`,
  ]);
}

/**
 * Sets a coin back to before a block, and takes it from whoever reads it: he would save where he has got to. The coin's row must
 * be locked.
 */
export async function rereadCoin(tx: Sql, coin: CoinCode, height: number): Promise<void> {
  await tx.run(
    `update coins set cursor = $2, lease_id = null, leased_until = null, failures = 0, retry_at = null, last_fault = null
      where code = $1`,
    [coin, `${Math.max(0, height - 1)}:${NO_BLOCK}`],
  );
}

/** How far a coin was read; undefined where it never gave out an address. */
export async function lockCoin(
  tx: Sql,
  coin: CoinCode,
): Promise<{ readonly cursor: string | null } | undefined> {
  return await tx.row('select cursor from coins where code = $1 for update', [coin]);
}

/** The block that a cursor, `height:hash`, was read up to. */
export function cursorHeight(cursor: string | null): number | null {
  const height = /^(\d{1,12}):/.exec(cursor ?? '')?.[1];
  return height === undefined ? null : Number(height);
}

export interface LeasedCoin {
  readonly code: CoinCode;
  readonly leaseId: string;
  readonly cursor: string | null;
  readonly failures: number;
  /** Up to when its chain was read whole, on the business clock. */
  readonly readAt: Date | null;
}

/**
 * Leases those of the coins that have an invoice, are in nobody's lease and wait out no failure, each under the
 * lease named for it. It waits for a row that is locked (an index being taken) instead of passing it by: a coin that
 * could be polled is polled.
 */
export async function claimCoins(
  sql: Sql,
  claim: { readonly leases: ReadonlyMap<CoinCode, string>; readonly leaseMs: number },
): Promise<LeasedCoin[]> {
  return await sql.rows<LeasedCoin>(
    `update coins set lease_id = wanted.lease_id, leased_until = clock_timestamp() + $3 * interval '1 ms'
       from unnest($1::text[], $2::uuid[]) as wanted (code, lease_id)
      where coins.code = wanted.code and coins.code in (
        select code from coins
         where code = any($1)
           and (leased_until is null or leased_until <= clock_timestamp())
           and (retry_at is null or retry_at <= clock_timestamp())
           and exists (select 1 from topups where topups.coin = coins.code)
         order by code for no key update)
     returning coins.code, coins.lease_id as "leaseId", cursor, failures, read_at as "readAt"`,
    [[...claim.leases.keys()], [...claim.leases.values()], claim.leaseMs],
  );
}

/** Keeps a coin for longer. */
export async function extendCoinLease(sql: Sql, leaseId: string, leaseMs: number): Promise<void> {
  await sql.run(
    `update coins set leased_until = clock_timestamp() + $2 * interval '1 ms' where lease_id = $1`,
    [leaseId, leaseMs],
  );
}

/** Whether the lease still holds; until `tx` ends nobody can take it over. */
export async function holdsCoinLease(tx: Sql, coin: CoinCode, leaseId: string): Promise<boolean> {
  const row = await tx.row(`select 1 from coins where code = $1 and lease_id = $2 for share`, [
    coin,
    leaseId,
  ]);
  return row !== undefined;
}

/** Keeps how far the chain was read, and that all until `readAt` was, unless that is null, and forgets its failures; false when the lease is another's by now. */
export async function saveCursor(
  sql: Sql,
  coin: CoinCode,
  leaseId: string,
  read: { readonly cursor: string; readonly readAt: Date | null },
): Promise<boolean> {
  const saved = await sql.run(
    `update coins set cursor = $3, read_at = coalesce($4, read_at), failures = 0, retry_at = null, last_fault = null
      where code = $1 and lease_id = $2`,
    [coin, leaseId, read.cursor, read.readAt],
  );
  return saved > 0;
}

/** Waits before the next poll, twice as long after each failure, and keeps why: `fault` is shown to the operator. */
export async function delayCoin(
  sql: Sql,
  coin: CoinCode,
  leaseId: string,
  delay: { readonly initialMs: number; readonly maxMs: number; readonly fault: string },
): Promise<void> {
  await sql.run(
    `update coins set failures = failures + 1, last_fault = $5,
            retry_at = clock_timestamp() + least($3 * 2 ^ least(failures, 30), $4) * interval '1 ms'
      where code = $1 and lease_id = $2`,
    [coin, leaseId, delay.initialMs, delay.maxMs, delay.fault],
  );
}

/** Gives the coins of these leases back. */
export async function releaseCoins(sql: Sql, leaseIds: readonly string[]): Promise<void> {
  await sql.run(`update coins set lease_id = null, leased_until = null where lease_id = any($1)`, [leaseIds]);
}

/**
 * Coins under other leases than these. One that ran out counts too: its holder died, and a claim a moment ago may
 * have come just before its end.
 */
export async function countLeasedElsewhere(sql: Sql, leaseIds: readonly string[]): Promise<number> {
  const row = await sql.row<{ leased: number }>(
    `select count(*)::int as leased from coins
      where lease_id is not null and lease_id <> all($1::uuid[])`,
    [leaseIds],
  );
  return row?.leased ?? 0;
}

/** Whether the last attempt to read some coin failed: it is tried again. */
export async function hasFailedCoins(sql: Sql): Promise<boolean> {
  return (await sql.row(`select 1 from coins where failures > 0 limit 1`)) !== undefined;
}

export interface CoinRow {
  readonly code: CoinCode;
  /** For the next address. */
  readonly next_index: number;
  readonly cursor: string | null;
  /** Polls that failed in a row, and why the last one did. */
  readonly failures: number;
  readonly last_fault: string | null;
  /** Up to when its chain was read whole, on the business clock. */
  readonly read_at: Date | null;
}

/** Every coin that an address was ever given out for. */
export async function listCoinRows(sql: Sql): Promise<CoinRow[]> {
  return await sql.rows<CoinRow>(
    'select code, next_index, cursor, failures, last_fault, read_at from coins order by code',
  );
}

/**
 * Those of these coins that the customer has an invoice in, made after `invoicesAfter`, and whose chain was not read
 * whole since `since`.
 */
export async function listUnreadCoins(
  tx: Sql,
  wanted: {
    readonly customerId: string;
    readonly coins: readonly CoinCode[];
    readonly since: Date;
    readonly invoicesAfter: Date;
  },
): Promise<CoinCode[]> {
  const rows = await tx.rows<{ code: CoinCode }>(
    `select code from coins
      where code = any($1) and (read_at is null or read_at < $2)
        and exists (select from topups where customer_id = $3 and coin = coins.code and created_at > $4)
      order by code`,
    [wanted.coins, wanted.since, wanted.customerId, wanted.invoicesAfter],
  );
  return rows.map((row) => row.code);
}
