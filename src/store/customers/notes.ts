/** Notes and tags of staff on a customer. Additions require the customer's lock. */
import type { Sql } from '../../kernel/sql.ts';

export interface NoteRow {
  readonly id: string;
  readonly customer_id: string;
  readonly staff_id: string | null;
  readonly text: string;
  readonly created_at: Date;
}

/** Lists the newest `limit`, with the name of their author. */
export async function listNotes(
  sql: Sql,
  customerId: string,
  limit: number,
): Promise<(NoteRow & { readonly author: string | null })[]> {
  return await sql.rows(
    `select n.id, n.customer_id, n.staff_id, n.text, n.created_at, s.name as author
       from customer_notes n left join staff s on s.id = n.staff_id
      where n.customer_id = $1 order by n.id desc limit $2`,
    [customerId, limit],
  );
}

/** Counts at most `limit`. */
export async function countNotes(tx: Sql, customerId: string, limit: number): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) as count from (select from customer_notes where customer_id = $1 limit $2) n`,
    [customerId, limit],
  );
  return Number(row?.count ?? 0n);
}

export async function insertNote(tx: Sql, row: NoteRow): Promise<void> {
  await tx.run(
    `insert into customer_notes (id, customer_id, staff_id, text, created_at)
     values ($id, $customer_id, $staff_id, $text, $created_at)`,
    row,
  );
}

/** Returns false when the customer has no note with this id. */
export async function deleteNote(tx: Sql, customerId: string, id: string): Promise<boolean> {
  const values = [id, customerId];
  return (await tx.run('delete from customer_notes where id = $1 and customer_id = $2', values)) === 1;
}

/** Lists the tags of a customer by name. Their number is limited. */
export async function listTags(sql: Sql, customerId: string): Promise<string[]> {
  const rows = await sql.rows<{ tag: string }>(
    'select tag from customer_tags where customer_id = $1 order by tag',
    [customerId],
  );
  return rows.map(({ tag }) => tag);
}

export async function replaceTags(tx: Sql, customerId: string, tags: readonly string[]): Promise<void> {
  await tx.run('delete from customer_tags where customer_id = $1 and tag <> all($2::text[])', [
    customerId,
    tags,
  ]);
  await tx.run(
    `insert into customer_tags (customer_id, tag) select $1, unnest($2::text[]) on conflict do nothing`,
    [customerId, tags],
  );
}
