/**
 * What is kept of each coin: the next number for an address, how far its chain was read, and who reads it now.
 * Leases and back-off use the database's own clock, which all processes share.
 */
import type { Sql } from '../kernel/sql.ts';
import type { CoinCode } from '../spec/coins.ts';

/** Takes the next derivation number of a coin. It stays taken, whatever becomes of it. */
export async function takeIndex(sql: Sql, coin: CoinCode): Promise<number> {
  const row = await sql.row<{ index: number }>(
    `insert into coins (code, next_index) values ($1, 1)
     on conflict (code) do update set next_index = coins.next_index + 1
     returning next_index - 1 as index`,
    [coin],
  );
  if (!row) throw new Error('no derivation number');
  return row.index;
}

export interface ClaimedCoin {
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
): Promise<ClaimedCoin[]> {
  return await sql.rows<ClaimedCoin>(
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
export async function extendCoin(sql: Sql, leaseId: string, leaseMs: number): Promise<void> {
  await sql.run(
    `update coins set leased_until = clock_timestamp() + $2 * interval '1 ms' where lease_id = $1`,
    [leaseId, leaseMs],
  );
}

/** Whether the lease still holds; until `tx` ends nobody can take it over. */
export async function holdsCoin(tx: Sql, coin: CoinCode, leaseId: string): Promise<boolean> {
  const row = await tx.row(`select 1 from coins where code = $1 and lease_id = $2 for share`, [
    coin,
    leaseId,
  ]);
  return row !== undefined;
}

/** Keeps how far the chain was read, and that all until `readAt` was, and forgets its failures; false when the lease is another's by now. */
export async function saveCursor(
  sql: Sql,
  coin: CoinCode,
  leaseId: string,
  read: { readonly cursor: string; readonly readAt: Date },
): Promise<boolean> {
  const saved = await sql.run(
    `update coins set cursor = $3, read_at = $4, failures = 0, retry_at = null where code = $1 and lease_id = $2`,
    [coin, leaseId, read.cursor, read.readAt],
  );
  return saved > 0;
}

/** Waits before the next poll, twice as long after each failure. */
export async function delayCoin(
  sql: Sql,
  coin: CoinCode,
  leaseId: string,
  delay: { readonly firstMs: number; readonly mostMs: number },
): Promise<void> {
  await sql.run(
    `update coins set failures = failures + 1,
            retry_at = clock_timestamp() + least($3 * 2 ^ least(failures, 30), $4) * interval '1 ms'
      where code = $1 and lease_id = $2`,
    [coin, leaseId, delay.firstMs, delay.mostMs],
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

/**
 * Those of these coins that the customer has an invoice in, made after `invoicesAfter`, and whose chain was not read
 * whole since `since`.
 */
export async function coinsUnread(
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
