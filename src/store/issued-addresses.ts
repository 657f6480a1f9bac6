/** Which addresses were given out. */
import type { Sql } from '../kernel/sql.ts';
import type { CoinCode } from '../spec/coins.ts';

/** Those of these addresses that an invoice of this coin has, however old it is: by index, whatever there is beside. */
export async function findOwnAddresses(
  sql: Sql,
  coin: CoinCode,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set();
  const rows = await sql.rows<{ address: string }>(
    'select deposit_address as address from topups where coin = $1 and deposit_address = any($2)',
    [coin, [...new Set(addresses)]],
  );
  return new Set(rows.map(({ address }) => address));
}

/** Those of these addresses that were paid, in blocks that stand. */
export async function findPaidAddresses(
  sql: Sql,
  coin: CoinCode,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const given = await findIssuedAddresses(sql, coin, addresses);
  return new Set(given.filter(({ units }) => units > 0n).map(({ address }) => address));
}

export interface IssuedAddress {
  readonly address: string;
  /** What is in blocks now, in the coin's smallest unit, whatever became of it since. */
  readonly units: bigint;
}

/** Those of these addresses that were given out, and what came in there. */
export async function findIssuedAddresses(
  sql: Sql,
  coin: CoinCode,
  addresses: readonly string[],
): Promise<IssuedAddress[]> {
  const rows = await sql.rows<{ address: string; units: string }>(
    `select p.deposit_address as address, coalesce(sum(d.amount_units), 0) as units
       from topups p left join deposits d on d.topup_id = p.id and d.state in ('included', 'final')
      where p.coin = $1 and p.deposit_address = any($2) group by p.deposit_address`,
    [coin, addresses],
  );
  return rows.map(({ address, units }) => ({ address, units: BigInt(units) }));
}

/** The first so many addresses of a pool, in the order in which they were imported and are given out. */
export async function listPoolAddresses(sql: Sql, coin: CoinCode, limit: number): Promise<string[]> {
  const rows = await sql.rows<{ address: string }>(
    'select address from address_pool where coin = $1 order by n limit $2',
    [coin, limit],
  );
  return rows.map(({ address }) => address);
}
