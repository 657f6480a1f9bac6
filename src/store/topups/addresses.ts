/**
 * Addresses of coins without public derivation. The operator generates them elsewhere; each is given
 * permanently to one invoice, in order. Concurrent callers skip each other's locked rows, so none waits and
 * no address is given out twice.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { Database, Sql } from '../../kernel/sql.ts';
import type { AddressPool, WatchedAddress } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';

const UNIQUE_VIOLATION = '23505';

const WATCHED = 'address, mark, taken_at as "takenAt"';

const TAKE = `
  with free as (
    select address from address_pool where coin = $1 and topup_id is null
     order by n limit 1 for no key update skip locked
  )
  update address_pool pool set topup_id = $2, taken_at = $3
    from free where pool.coin = $1 and pool.address = free.address
  returning pool.address, mark, taken_at as "takenAt"`;

const PAGE = `
  select ${WATCHED} from address_pool
   where coin = $1 and topup_id is not null and ($2::text is null or (taken_at, address) <
     (select taken_at, address from address_pool where coin = $1 and address = $2))
   order by taken_at desc, address desc limit $3`;

/** `db` must not be in a transaction: an address stays taken even if its invoice fails. */
export function createAddressPool(db: Database, coin: CoinCode, clock: Clock): AddressPool {
  const findOwn = (invoiceId: string) =>
    db.row<WatchedAddress>(`select ${WATCHED} from address_pool where coin = $1 and topup_id = $2`, [
      coin,
      invoiceId,
    ]);
  return {
    allocate: async (invoiceId) => {
      const known = await findOwn(invoiceId);
      if (known) return known;
      try {
        return (await db.row<WatchedAddress>(TAKE, [coin, invoiceId, clock.now()])) ?? null;
      } catch (error) {
        // A concurrent call took an address for the same invoice.
        if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
        return (await findOwn(invoiceId)) ?? null;
      }
    },
    reject: async (address) => {
      await db.run(
        `update address_pool set topup_id = gen_random_uuid(), taken_at = coalesce(taken_at, $3)
          where coin = $1 and address = $2`,
        [coin, address, clock.now()],
      );
    },
    listWatched: async ({ after, limit }) => await db.rows<WatchedAddress>(PAGE, [coin, after, limit]),
    saveMark: async (address, mark) => {
      await db.run('update address_pool set mark = $3 where coin = $1 and address = $2', [
        coin,
        address,
        mark,
      ]);
    },
    countFree: async (limit) => await countFreeAddresses(db, coin, limit),
  };
}

/** Counts the addresses left, up to `limit`: a pool may be large. */
export async function countFreeAddresses(sql: Sql, coin: CoinCode, limit: number): Promise<number> {
  const counted = await sql.row<{ free: number }>(
    `select count(*)::int as free from (
       select from address_pool where coin = $1 and topup_id is null limit $2) as counted`,
    [coin, limit],
  );
  return counted?.free ?? 0;
}

/**
 * Returns the address of an invoice that was never created to the pool. It was shown to no one; without its
 * mark, it is checked again when it is next given out.
 */
export async function releasePooledAddress(sql: Sql, coin: CoinCode, invoiceId: string): Promise<void> {
  await sql.run(
    'update address_pool set topup_id = null, taken_at = null, mark = null where coin = $1 and topup_id = $2',
    [coin, invoiceId],
  );
}

/** Reserves the next `count` addresses for no invoice. Returns how many there were. */
export async function skipPooledAddresses(
  tx: Sql,
  coin: CoinCode,
  count: number,
  now: Date,
): Promise<number> {
  return await tx.run(
    `update address_pool set topup_id = gen_random_uuid(), taken_at = $3
      where coin = $1 and topup_id is null and address in (
        select address from address_pool where coin = $1 and topup_id is null order by n limit $2)`,
    [coin, count, now],
  );
}

/**
 * Adds free addresses, to be given out in this order after the existing ones. Returns those that already
 * exist and are left unchanged. The caller validates the addresses and bounds how many there are.
 */
export async function addToPool(
  tx: Sql,
  coin: CoinCode,
  addresses: readonly string[],
  now: Date,
): Promise<readonly string[]> {
  const added = await tx.rows<{ address: string }>(
    `insert into address_pool (coin, address, added_at)
     select $1, address, $3 from unnest($2::text[]) with ordinality as given (address, place) order by place
     on conflict (coin, address) do nothing returning address`,
    [coin, addresses, now],
  );
  const fresh = new Set(added.map(({ address }) => address));
  return addresses.filter((address) => !fresh.delete(address));
}

// ---- addresses that top-ups were given, of any coin

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
