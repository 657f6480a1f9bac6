/**
 * Rows for lists of any length, laid by the database itself. Where a quota bounds a list, the table is long by its many
 * customers, and each has all that he may have; where none does, one customer has nearly all, and many others have few.
 */
import type { OpenDatabase } from '../../../src/store/db.ts';

/** Of the customer whose lists are read. */
export const CUSTOMER_ID = 'c0000000-0000-0000-0000-000000000000';
export const FIRST_AT = new Date('2030-01-01T00:00:00Z');

/** Official images have the ids of this number and of 39 more. */
export const FIRST_IMAGE_NO = 2_000_000_000;

/** Name of a column → expression over the columns of `rowsOf`. */
export type ColumnExpressions = Readonly<Record<string, string>>;

export interface TableFixture {
  readonly table: string;
  readonly columns: ColumnExpressions;
}

/** `n` rows are the list's own; `held` of them are one customer's, or all of them. `old`: which part of his is old. */
export interface ListSize {
  readonly n: number;
  readonly perCustomer: number | 'all';
  readonly oldFraction: number;
}

/**
 * `i` counts all rows, `k` those of their customer; `once` is true for one of mine, in the middle, `old` for the older part
 * of the others: who looks for those from the newest on, in a list of all, meets none for long. `word` is `once`, `old` or `rest`; `name`
 * is `once`, `old` or unique.
 */
function rowsSql({ n, perCustomer, oldFraction }: ListSize): string {
  const customers = perCustomer === 'all' ? 1 : n / perCustomer;
  const others = n / 10;
  const total = perCustomer === 'all' ? n + 3 * others : n;
  const isOld = `k < ${(perCustomer === 'all' ? n : perCustomer) * oldFraction}`;
  const once = `c = 0 and k = ${perCustomer === 'all' ? n / 2 : Math.floor(perCustomer / 2)}`;
  return `select *, case when once then 'once' when old then 'old' else 'rest' end as word,
       case when once then 'once' when old then 'old' else 'n' || lpad(k::text, 7, '0') end as name
     from (select i, k, c, ${once} as once, ${isOld} and not (${once}) as old, ${idSql('i')} as id,
                  ${customerIdSql('c')} as customer, ${timeSql('i')} as at
             from (select i, case when i <= ${n} then (i - 1) / ${customers} else i end as k,
                          case when i <= ${n} then (i - 1) % ${customers} else 1 + i % ${others} end as c
                     from generate_series(1, ${total}) as i) as counted) as laid`;
}

/** Ids with their time first, as those that we make. */
export function idSql(i: string): string {
  return `(lpad(to_hex(${i}), 12, '0') || substr(md5((${i})::text), 1, 20))::uuid`;
}

function customerIdSql(c: string): string {
  return `('c' || lpad(to_hex(${c}), 31, '0'))::uuid`;
}

/** Two rows of each moment, a moment every two seconds. */
function timeSql(i: string): string {
  return `timestamptz '${FIRST_AT.toISOString()}' + (${i} / 2) * interval '2 seconds'`;
}

/** The word of three that a column has in its one row, in the old ones, and in the rest. */
export function valueSql(once: string, old: string, rest: string): string {
  return `case when once then '${once}' when old then '${old}' else '${rest}' end`;
}

export async function insertFixtures(
  db: OpenDatabase,
  fixtures: readonly TableFixture[],
  size: ListSize,
): Promise<void> {
  for (const { table, columns } of fixtures) {
    await db.run(
      `insert into ${table} (${Object.keys(columns).join(', ')})
       select ${Object.values(columns).join(', ')} from (${rowsSql(size)}) as r`,
    );
  }
  for (const { table } of fixtures) await db.run(`vacuum analyze ${table}`);
}

/** What the rows refer to: customers for lists of up to `n` rows, regions, plans, images, coins. */
export async function insertReferenceRows(db: OpenDatabase, n: number): Promise<void> {
  await db.run(
    `insert into customers (id, public_no, email, email_key, password_hash, created_at)
     select ${customerIdSql('c')}, c + 1, c, c, '', now() from generate_series(0, ${n / 5}) as c`,
  );
  for (const place of ['once', 'old', 'rest']) {
    await db.run(`insert into regions values ($1, $1, $1, 'FR', $1)`, [place]);
    await db.run(`insert into plans values ($1, 'vps', 1, 'test', 1024, 10, 1, 500)`, [place]);
  }
  await db.run(
    `insert into images (id, type, family, version, arch, size_gb, cloud_init, released_at)
     select ${idSql(`${FIRST_IMAGE_NO} + i`)}, 'official', 'old', i, '{old}', 1, true, now() from generate_series(0, 39) as i`,
  );
  await db.run(
    `insert into ip_blocks values (${idSql('4')}, 'old', 4, '10.0.0.0/8', '10.0.0.1', now()),
       (${idSql('6')}, 'old', 6, '2001:db8::/32', 'fe80::1', now())`,
  );
  await db.run(`insert into coins (code) values ('BTC'), ('XMR'), ('LTC')`);
  await db.run('vacuum analyze');
}
