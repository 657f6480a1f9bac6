/**
 * The state of each coin: the next derivation index, how far its chain was read, and which process reads it.
 * Leases and backoff use the database's clock, which all processes share.
 */
import type { Sql } from '../../kernel/sql.ts';
import type { CoinCode } from '../../spec/coins.ts';

export interface AllocatedIndex {
  readonly index: number;
  /** No block of its chain was read yet, and no invoice depends on the cursor. */
  readonly isUnread: boolean;
}

/**
 * Takes a derivation index of a coin, released ones first. It stays taken, even if its invoice fails, unless
 * it is released.
 */
export async function allocateIndex(sql: Sql, coin: CoinCode): Promise<AllocatedIndex> {
  const row =
    (await sql.row<AllocatedIndex>(ALLOCATE_SPARE, [coin])) ??
    (await sql.row<AllocatedIndex>(ALLOCATE_NEW, [coin]));
  if (!row) throw new Error('the statement did not return a derivation index');
  return row;
}

/** A hash that no block has: a driver that resumes from it detects a fork and rewinds some blocks. */
const NO_BLOCK = '0'.repeat(64);
/** A cursor set for an invoice that was never created does not count. */
const IS_UNREAD_SQL = `(coins.cursor is null
  or coins.cursor like '%:${NO_BLOCK}' and not exists (select from topups where topups.coin = coins.code))`;

const ALLOCATE_SPARE = `
  with spare as (
    select coin, index from spare_indexes where coin = $1 order by index limit 1 for update skip locked
  )
  delete from spare_indexes taken using spare where taken.coin = spare.coin and taken.index = spare.index
  returning taken.index, (select ${IS_UNREAD_SQL} from coins where code = $1) as "isUnread"`;

const ALLOCATE_NEW = `
  insert into coins (code, next_index) values ($1, 1)
  on conflict (code) do update set next_index = coins.next_index + 1
  returning next_index - 1 as index, ${IS_UNREAD_SQL} as "isUnread"`;

/** Releases an index for reuse. Only for an index whose address was shown to no one. */
export async function releaseIndex(sql: Sql, coin: CoinCode, index: number): Promise<void> {
  await sql.run('insert into spare_indexes (coin, index) values ($1, $2) on conflict do nothing', [
    coin,
    index,
  ]);
}

/** The highest next index: an account has 2^31 of them, and two coins may share one account. */
const INDEX_MAX = 1_000_000_000;

/**
 * Skips `count` derivation indexes and discards the released ones. Returns the next index, or null when fewer
 * than `count` are left.
 */
export async function skipIndexes(tx: Sql, coin: CoinCode, count: number): Promise<number | null> {
  await tx.run('delete from spare_indexes where coin = $1', [coin]);
  const row = await tx.row<{ next: number }>(
    `insert into coins (code, next_index, given) values ($1, $2::int, $2::int)
     on conflict (code) do update
       set next_index = coins.next_index + $2, given = coins.given + $2 where coins.next_index <= $3 - $2
     returning next_index as next`,
    [coin, count, INDEX_MAX],
  );
  return row?.next ?? null;
}

/**
 * Sets where the first poll begins, which may run late. An existing cursor stays, unless its invoice was
 * never created: a coin without invoices is not polled, while its chain grows.
 */
export async function initializeCursor(sql: Sql, coin: CoinCode, height: number): Promise<void> {
  await sql.run(`update coins set cursor = $2 where code = $1 and ${IS_UNREAD_SQL}`, [
    coin,
    `${height}:${NO_BLOCK}`,
  ]);
}

/**
 * Rewinds a coin to before a block and revokes its lease: the current leaseholder would overwrite the cursor.
 * The caller holds the lock on the coin's row.
 */
export async function rereadCoin(tx: Sql, coin: CoinCode, height: number): Promise<void> {
  await tx.run(
    `update coins
        set cursor = $2, lease_id = null, leased_until = null, failures = 0, retry_at = null,
            last_fault = null
      where code = $1`,
    [coin, `${Math.max(0, height - 1)}:${NO_BLOCK}`],
  );
}

/** Locks a coin and returns its cursor; undefined if it never had an address. */
export async function lockCoin(
  tx: Sql,
  coin: CoinCode,
): Promise<{ readonly cursor: string | null } | undefined> {
  return await tx.row('select cursor from coins where code = $1 for update', [coin]);
}

/** Returns the height of a cursor, `height:hash`. */
export function cursorHeight(cursor: string | null): number | null {
  const height = /^(\d{1,12}):/.exec(cursor ?? '')?.[1];
  return height === undefined ? null : Number(height);
}

export interface LeasedCoin {
  readonly code: CoinCode;
  readonly leaseId: string;
  readonly cursor: string | null;
  readonly failures: number;
  /** Time up to which its chain was read completely, on the business clock. */
  readonly readAt: Date | null;
}

/**
 * Leases the coins that have an invoice, are not leased and are not backing off, each under the lease id
 * given for it. Waits for a locked row (an index being taken) instead of skipping it, so that no coin misses
 * its poll.
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

/** Extends the lease of a coin. */
export async function extendCoinLease(sql: Sql, leaseId: string, leaseMs: number): Promise<void> {
  await sql.run(
    `update coins set leased_until = clock_timestamp() + $2 * interval '1 ms' where lease_id = $1`,
    [leaseId, leaseMs],
  );
}

/** Whether the lease is still valid. It cannot be taken over until `tx` ends. */
export async function holdsCoinLease(tx: Sql, coin: CoinCode, leaseId: string): Promise<boolean> {
  const row = await tx.row(`select 1 from coins where code = $1 and lease_id = $2 for share`, [
    coin,
    leaseId,
  ]);
  return row !== undefined;
}

/**
 * Saves how far the chain was read and clears its failures. A `readAt` that is not null says that the chain
 * was read completely up to then. Returns false when the lease was lost.
 */
export async function saveCursor(
  sql: Sql,
  coin: CoinCode,
  leaseId: string,
  read: { readonly cursor: string; readonly readAt: Date | null },
): Promise<boolean> {
  const saved = await sql.run(
    `update coins
        set cursor = $3, read_at = coalesce($4, read_at), failures = 0, retry_at = null, last_fault = null
      where code = $1 and lease_id = $2`,
    [coin, leaseId, read.cursor, read.readAt],
  );
  return saved > 0;
}

/** Delays the next poll and records why: the operator sees `fault`. */
export async function delayCoin(
  sql: Sql,
  coin: CoinCode,
  leaseId: string,
  delay: { readonly retryInMs: number; readonly fault: string },
): Promise<void> {
  await sql.run(
    `update coins set failures = failures + 1, last_fault = $4,
            retry_at = clock_timestamp() + $3 * interval '1 ms'
      where code = $1 and lease_id = $2`,
    [coin, leaseId, delay.retryInMs, delay.fault],
  );
}

/** Ends the backoff of a coin. Returns false if it has none. */
export async function retryCoin(sql: Sql, coin: CoinCode): Promise<boolean> {
  return (await sql.run('update coins set retry_at = null where code = $1 and failures > 0', [coin])) === 1;
}

/** Releases the coins of these leases. */
export async function releaseCoins(sql: Sql, leaseIds: readonly string[]): Promise<void> {
  await sql.run(`update coins set lease_id = null, leased_until = null where lease_id = any($1)`, [leaseIds]);
}

/**
 * Counts coins under other leases than these. An expired one counts too: its holder died, and may have
 * claimed the coin just before.
 */
export async function countLeasedElsewhere(sql: Sql, leaseIds: readonly string[]): Promise<number> {
  const row = await sql.row<{ leased: number }>(
    `select count(*)::int as leased from coins
      where lease_id is not null and lease_id <> all($1::uuid[])`,
    [leaseIds],
  );
  return row?.leased ?? 0;
}

/** Whether the last poll of any coin failed. It will be retried. */
export async function hasFailedCoins(sql: Sql): Promise<boolean> {
  return (await sql.row(`select 1 from coins where failures > 0 limit 1`)) !== undefined;
}

export interface CoinRow {
  readonly code: CoinCode;
  /** The index of the next address. */
  readonly next_index: number;
  readonly cursor: string | null;
  /** Consecutive failed polls, and the reason of the last one. */
  readonly failures: number;
  readonly last_fault: string | null;
  /** Time up to which its chain was read completely, on the business clock. */
  readonly read_at: Date | null;
}

/** Lists every coin that ever had an address. */
export async function listCoinRows(sql: Sql): Promise<CoinRow[]> {
  return await sql.rows<CoinRow>(
    'select code, next_index, cursor, failures, last_fault, read_at from coins order by code',
  );
}

/**
 * Returns which of these coins the customer has an invoice in, created after `invoicesAfter`, while their
 * chain has not been read completely since `since`.
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
