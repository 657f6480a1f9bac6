/** The numbers of each coin that only rise, and their marks: the highest numbers that machines have seen. */
import type { Sql } from '../../kernel/sql.ts';
import type { CoinCode } from '../../spec/coins.ts';

export interface AddressNumbers {
  /** The next derivation index. */
  readonly next_index: bigint;
  /** How often an address was given out, also a released one. */
  readonly given: bigint;
  /** The place of the last address of the pool that was given out. */
  readonly pool_place: bigint;
}

/** SQL for the place in the pool of coin `$1` of the last address that was given out. */
const POOL_PLACE = `(select count(*) from address_pool
  where coin = $1 and n <= (select max(n) from address_pool where coin = $1 and topup_id is not null))`;

/** Counts an address that is given out, and returns the coin's numbers. */
export async function countGiven(
  sql: Sql,
  coin: CoinCode,
  { pooled }: { readonly pooled: boolean },
): Promise<AddressNumbers> {
  const row = await sql.row<AddressNumbers>(
    `update coins
        set given = given + 1, pool_place = ${pooled ? `greatest(pool_place, ${POOL_PLACE})` : 'pool_place'}
      where code = $1 returning next_index::bigint, given, pool_place`,
    [coin],
  );
  if (!row) throw new Error('the coin of an address has no row');
  return row;
}

/** Counts addresses of the pool that are skipped as given out. */
export async function countSkipped(sql: Sql, coin: CoinCode, count: number): Promise<void> {
  await sql.run(
    `update coins set given = given + $2, pool_place = greatest(pool_place, ${POOL_PLACE}) where code = $1`,
    [coin, count],
  );
}

export async function listAddressNumbers(
  sql: Sql,
): Promise<(AddressNumbers & { readonly coin: CoinCode })[]> {
  return await sql.rows(
    'select code as coin, next_index::bigint, given, pool_place from coins order by code',
  );
}

/** Stores marks that the database is behind, and returns how many of them were new or higher. */
export async function saveMark(tx: Sql, coin: CoinCode, mark: AddressNumbers): Promise<boolean> {
  const saved = await tx.run(
    `insert into address_marks (coin, next_index, given, pool_place)
     values ($coin, $next_index, $given, $pool_place)
     on conflict (coin) do update
       set next_index = greatest(address_marks.next_index, excluded.next_index),
           given = greatest(address_marks.given, excluded.given),
           pool_place = greatest(address_marks.pool_place, excluded.pool_place)
     where (address_marks.next_index, address_marks.given, address_marks.pool_place)
           is distinct from (greatest(address_marks.next_index, excluded.next_index),
                             greatest(address_marks.given, excluded.given),
                             greatest(address_marks.pool_place, excluded.pool_place))`,
    { coin, ...mark },
  );
  return saved > 0;
}

/** The numbers of a coin in the database and, above at least one of them, their marks. */
export interface BehindRow extends AddressNumbers {
  readonly coin: CoinCode;
  readonly marked_index: bigint;
  readonly marked_given: bigint;
  readonly marked_place: bigint;
}

const BEHIND = `address_marks m left join coins c on c.code = m.coin
  where m.next_index > coalesce(c.next_index, 0) or m.given > coalesce(c.given, 0)
     or m.pool_place > coalesce(c.pool_place, 0)`;

/** Whether the database is behind its marks: it was restored from a backup. */
export async function isBehindMarks(sql: Sql): Promise<boolean> {
  return (await sql.row(`select from ${BEHIND} limit 1`)) !== undefined;
}

/** Lists the coins whose numbers are behind their marks. */
export async function listBehind(sql: Sql): Promise<BehindRow[]> {
  return await sql.rows<BehindRow>(
    `select m.coin, coalesce(c.next_index, 0)::bigint as next_index, coalesce(c.given, 0)::bigint as given,
            coalesce(c.pool_place, 0)::bigint as pool_place, m.next_index as marked_index,
            m.given as marked_given, m.pool_place as marked_place
       from ${BEHIND} order by m.coin`,
  );
}

/**
 * Raises a coin's numbers to its marks, and discards the released indexes: they may have been given out
 * since the backup. Takes the addresses of the pool up to the marked place, and returns how many, with the
 * number of addresses that the pool lacks.
 */
export async function raiseToMarks(
  tx: Sql,
  row: BehindRow,
  now: Date,
): Promise<{ readonly taken: number; readonly missing: bigint }> {
  const { coin } = row;
  await tx.run(
    `insert into coins (code, next_index, given) values ($1, $2, $3)
     on conflict (code) do update
       set next_index = greatest(coins.next_index, $2), given = greatest(coins.given, $3)`,
    [coin, row.marked_index, row.marked_given],
  );
  await tx.run('delete from spare_indexes where coin = $1', [coin]);
  const taken = await tx.run(
    `update address_pool set topup_id = gen_random_uuid(), taken_at = $3
      where coin = $1 and topup_id is null and address in (
        select address from address_pool where coin = $1 order by n limit $2)`,
    [coin, row.marked_place > row.pool_place ? row.marked_place : row.pool_place, now],
  );
  await countSkipped(tx, coin, 0);
  const place = await tx.row<{ pool_place: bigint }>('select pool_place from coins where code = $1', [coin]);
  const missing = row.marked_place - (place?.pool_place ?? 0n);
  return { taken, missing: missing > 0n ? missing : 0n };
}

/** Deletes marks that the database is not behind. */
export async function deleteReachedMarks(tx: Sql): Promise<void> {
  await tx.run(`delete from address_marks where coin not in (select m.coin from ${BEHIND})`);
}
