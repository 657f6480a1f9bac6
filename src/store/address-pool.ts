/**
 * Addresses of coins that have no public derivation: made by the operator elsewhere, given out in their order, each to one invoice
 * for ever. Those who take at the same moment pass each other's rows by, so nobody waits and none is given out twice.
 */
import type { Clock } from '../kernel/clock.ts';
import type { Database, Sql } from '../kernel/sql.ts';
import type { AddressPool, WatchedAddress } from '../ports/chain.ts';
import type { CoinCode } from '../spec/coins.ts';

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

/** `db` must not be in a transaction: what was taken stays taken, whatever becomes of the invoice. */
export function createAddressPool(db: Database, coin: CoinCode, clock: Clock): AddressPool {
  const own = (invoiceId: string) =>
    db.row<WatchedAddress>(`select ${WATCHED} from address_pool where coin = $1 and topup_id = $2`, [
      coin,
      invoiceId,
    ]);
  return {
    allocate: async (invoiceId) => {
      const known = await own(invoiceId);
      if (known) return known;
      try {
        return (await db.row<WatchedAddress>(TAKE, [coin, invoiceId, clock.now()])) ?? null;
      } catch (error) {
        // It was taken for this invoice at the same moment.
        if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
        return (await own(invoiceId)) ?? null;
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
    countFree: async (most) => await countFreeAddresses(db, coin, most),
  };
}

/** How many addresses are left, counted up to `most`: a pool may be large. */
export async function countFreeAddresses(sql: Sql, coin: CoinCode, limit: number): Promise<number> {
  const counted = await sql.row<{ free: number }>(
    `select count(*)::int as free from (
       select from address_pool where coin = $1 and topup_id is null limit $2) as counted`,
    [coin, limit],
  );
  return counted?.free ?? 0;
}

/** The address that was taken for an invoice that was never made is free again: shown to nobody, and looked at anew when it is given out. */
export async function releasePooledAddress(sql: Sql, coin: CoinCode, invoiceId: string): Promise<void> {
  await sql.run(
    'update address_pool set topup_id = null, taken_at = null, mark = null where coin = $1 and topup_id = $2',
    [coin, invoiceId],
  );
}

/** The next so many are taken by no invoice; how many there were. */
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
 * Adds free addresses, to be given out in this order after those that are there; returns those that were known before and are left
 * as they are. Whether they are addresses at all, and how many at once, is for the caller to see to.
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
