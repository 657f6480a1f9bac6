import type { Sql } from '../kernel/sql.ts';

export interface WithheldTopupRow {
  readonly id: string;
  readonly order_ref: string;
  readonly email: string;
  readonly coin: string;
  /** The total of the withheld payments, in the coin's smallest unit. */
  readonly withheld_units: string;
  /** The total of the payments with an approved refund that has no transaction recorded. */
  readonly unsent_units: string;
  readonly created_at: Date;
}

/** Lists top-ups with withheld payments that are still on chain, or with unsent refunds, oldest first. */
export async function listWithheldTopups(tx: Sql): Promise<WithheldTopupRow[]> {
  return await tx.rows<WithheldTopupRow>(
    `select * from (
       select t.id, t.order_ref, c.email, t.coin, t.created_at,
              coalesce(sum(d.amount_units) filter (
                where t.credit_held and d.held and d.state in ('included', 'final')), 0) as withheld_units,
              coalesce(sum(d.amount_units) filter (
                where d.refund_address is not null and d.refund_txid is null), 0) as unsent_units
         from topups t
         join deposits d on d.topup_id = t.id
         join customers c on c.id = t.customer_id
        where t.id in (
          select id from topups where credit_held
          union select topup_id from deposits where refund_address is not null and refund_txid is null)
        group by t.id, c.id) as totals
      where withheld_units > 0 or unsent_units > 0
      order by created_at, id`,
  );
}
