/** Filters of the server list that a customer saved. Additions require the customer's lock. */
import type { Sql } from '../../kernel/sql.ts';

export interface SavedFilterRow {
  readonly id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly query: string;
  readonly created_at: Date;
}

/** Lists at most a hundred, by name. The limit is lower. */
export async function listSavedFilters(tx: Sql, customerId: string): Promise<SavedFilterRow[]> {
  return await tx.rows<SavedFilterRow>(
    `select id, customer_id, name, query, created_at from saved_filters where customer_id = $1
      order by name limit 100`,
    [customerId],
  );
}

/** Inserts a filter, or replaces the query of the one with this name. Returns the id of its row. */
export async function upsertSavedFilter(tx: Sql, row: SavedFilterRow): Promise<string> {
  const saved = await tx.row<{ id: string }>(
    `insert into saved_filters (id, customer_id, name, query, created_at)
     values ($id, $customer_id, $name, $query, $created_at)
     on conflict (customer_id, name) do update set query = excluded.query returning id`,
    row,
  );
  return saved?.id ?? row.id;
}

/** Returns false when the customer has none with this id. */
export async function deleteSavedFilter(tx: Sql, customerId: string, id: string): Promise<boolean> {
  const deleted = await tx.run('delete from saved_filters where id = $1 and customer_id = $2', [
    id,
    customerId,
  ]);
  return deleted === 1;
}
