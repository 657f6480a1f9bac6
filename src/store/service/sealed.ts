/** Sealed values in general, by the table of their columns. */
import type { Sql } from '../../kernel/sql.ts';
import type { SealedColumn } from '../../spec/sealed.ts';

export interface SealedRow {
  readonly id: string;
  readonly sealed: string;
}

/**
 * The condition for a value of version 0.1, `keyId.base64url`, which is not bound to its place. Its bytes
 * begin with a nonce and a tag, 28 together.
 */
export function unboundSql(column: string): string {
  return `${column} ~ '^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]{38,}$'`;
}

/**
 * Lists the values to seal again, by the id of their row: a lasting value that does not begin with `prefix`,
 * and any other that is not bound.
 */
export async function listSealedOtherwise(
  tx: Sql,
  { table, column, row, lasting, where }: SealedColumn,
  page: { readonly prefix: string; readonly after: string; readonly limit: number },
): Promise<SealedRow[]> {
  const isOutdated = lasting ? `not starts_with(${column}, $2)` : `$2 <> '' and ${unboundSql(column)}`;
  return await tx.rows<SealedRow>(
    `select ${row}::text as id, ${column} as sealed from ${table}
      where ${row} > $1::uuid and ${where ?? 'true'} and ${isOutdated} order by ${row} limit $3`,
    [page.after, page.prefix, page.limit],
  );
}

/** Replaces a value, unless it has changed since it was read. Returns whether it was replaced. */
export async function replaceSealed(
  tx: Sql,
  { table, column, row }: SealedColumn,
  change: SealedRow & { readonly next: string },
): Promise<boolean> {
  const replaced = await tx.run(
    `update ${table} set ${column} = $3 where ${row} = $1::uuid and ${column} = $2`,
    [change.id, change.sealed, change.next],
  );
  return replaced > 0;
}

/** Enough for a key's id and the dot after it. A file's whole value would be read from the disk. */
const KEY_ID_CHARS = 80;

/** Counts the values of these columns by the id of the key that sealed them. */
export async function countSealedByKey(
  tx: Sql,
  columns: readonly SealedColumn[],
): Promise<{ key_id: string; n: bigint }[]> {
  const ids = columns.map(
    ({ table, column, where }) =>
      `select split_part(left(${column}, ${KEY_ID_CHARS}), '.', 1) as key_id from ${table}
        where ${column} is not null and ${where ?? 'true'}`,
  );
  return await tx.rows(
    `select key_id, count(*) as n from (${ids.join(' union all ')}) as sealed
      group by key_id order by key_id`,
  );
}
