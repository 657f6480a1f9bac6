/** Refunds of payments: the destination, who approved it, and the transaction that sent it. */
import type { Sql } from '../../kernel/sql.ts';

/** Payments that were refunded in one decision. Refunds by older versions have only the note. */
export interface RefundRow {
  readonly refunded_at: Date;
  readonly keys: readonly string[];
  /** In the coin's smallest unit. */
  readonly units: string;
  readonly address: string | null;
  readonly approved_by: string | null;
  /** Null until it is sent. */
  readonly txid: string | null;
  readonly note: string | null;
}

/** Lists the refunds of one invoice, oldest first. */
export async function listRefunds(tx: Sql, topupId: string): Promise<RefundRow[]> {
  return await tx.rows<RefundRow>(
    `select refunded_at, array_agg(key order by key) as keys, sum(amount_units) as units,
            refund_address as address, refund_approved_by as approved_by, refund_txid as txid,
            refund_note as note
       from deposits where topup_id = $1 and refunded_at is not null
      group by refunded_at, refund_address, refund_approved_by, refund_txid, refund_note
      order by refunded_at`,
    [topupId],
  );
}

/** Writes the refund to the payments in its `keys`. */
export async function saveRefund(
  tx: Sql,
  topupId: string,
  refund: Omit<RefundRow, 'refunded_at' | 'units'>,
): Promise<void> {
  await tx.run(
    `update deposits set refund_address = $3, refund_approved_by = $4, refund_txid = $5, refund_note = $6
      where topup_id = $1 and key = any($2)`,
    [topupId, refund.keys, refund.address, refund.approved_by, refund.txid, refund.note],
  );
}

/** Whether the address was ever a deposit address, ignoring case. Scans all top-ups; use it rarely. */
export async function isDepositAddress(tx: Sql, address: string): Promise<boolean> {
  const row = await tx.row('select 1 from topups where lower(deposit_address) = lower($1) limit 1', [
    address,
  ]);
  return row !== undefined;
}
