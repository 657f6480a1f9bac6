/** Orders that a customer will finish later. Additions require the customer's lock. */
import type { Sql } from '../../kernel/sql.ts';

export interface OrderDraftRow {
  readonly id: string;
  readonly customer_id: string;
  readonly draft_sealed: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const COLUMNS = 'id, customer_id, draft_sealed, created_at, expires_at';

/** Lists at most a hundred, newest first. The limit is lower. */
export async function listOrderDrafts(tx: Sql, customerId: string, now: Date): Promise<OrderDraftRow[]> {
  return await tx.rows<OrderDraftRow>(
    `select ${COLUMNS} from order_drafts where customer_id = $1 and expires_at > $2
      order by created_at desc, id desc limit 100`,
    [customerId, now],
  );
}

export async function findOrderDraft(
  tx: Sql,
  customerId: string,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<OrderDraftRow | undefined> {
  return await tx.row<OrderDraftRow>(
    `select ${COLUMNS} from order_drafts where id = $1 and customer_id = $2 and expires_at > $3`,
    [id, customerId, now],
  );
}

/** Inserts a draft, or replaces the one of this customer with this id. */
export async function upsertOrderDraft(tx: Sql, row: OrderDraftRow): Promise<void> {
  await tx.run(
    `insert into order_drafts (id, customer_id, draft_sealed, created_at, expires_at)
     values ($id, $customer_id, $draft_sealed, $created_at, $expires_at)
     on conflict (id) do update
        set draft_sealed = excluded.draft_sealed, created_at = excluded.created_at,
            expires_at = excluded.expires_at
      where order_drafts.customer_id = excluded.customer_id`,
    row,
  );
}

/** Deletes all but the newest drafts of the customer. */
export async function trimOrderDrafts(tx: Sql, customerId: string, keep: number): Promise<void> {
  await tx.run(
    `delete from order_drafts where customer_id = $1 and id not in (
       select id from order_drafts where customer_id = $1 order by created_at desc, id desc limit $2)`,
    [customerId, keep],
  );
}

/** Returns false when the customer has none with this id. */
export async function deleteOrderDraft(tx: Sql, customerId: string, id: string): Promise<boolean> {
  const deleted = await tx.run('delete from order_drafts where id = $1 and customer_id = $2', [
    id,
    customerId,
  ]);
  return deleted === 1;
}
