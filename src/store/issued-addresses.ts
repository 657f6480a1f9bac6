/** Deposit addresses of top-ups. */
import type { Sql } from '../kernel/sql.ts';
import type { CoinCode } from '../spec/coins.ts';

/**
 * Returns which of these addresses belong to a top-up in this coin, of any age. One index lookup per address.
 */
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

/** Returns which of these addresses were paid in a block that is still part of the chain. */
export async function findPaidAddresses(
  sql: Sql,
  coin: CoinCode,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const issued = await findIssuedAddresses(sql, coin, addresses);
  return new Set(issued.filter(({ units }) => units > 0n).map(({ address }) => address));
}

export interface IssuedAddress {
  readonly address: string;
  /** The total received in blocks, in the coin's smallest unit, including amounts spent since. */
  readonly units: bigint;
}

/** Returns which of these addresses belong to a top-up, each with the amount it received. */
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

/** Lists the first `limit` addresses of a pool, in the order of import, which is the order of use. */
export async function listPoolAddresses(sql: Sql, coin: CoinCode, limit: number): Promise<string[]> {
  const rows = await sql.rows<{ address: string }>(
    'select address from address_pool where coin = $1 order by n limit $2',
    [coin, limit],
  );
  return rows.map(({ address }) => address);
}
