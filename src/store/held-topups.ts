import type { Sql } from '../kernel/sql.ts';

export interface HeldTopupRow {
  readonly id: string;
  readonly order_ref: string;
  readonly email: string;
  readonly coin: string;
  /** Of the payments that are held, in the coin's smallest unit. */
  readonly held_units: string;
  readonly created_at: Date;
}

/** Invoices with payments that the kill-switch holds and the chain still has, oldest first. */
export async function listHeldTopups(tx: Sql): Promise<HeldTopupRow[]> {
  return await tx.rows<HeldTopupRow>(
    `select p.id, p.order_ref, c.email, p.coin, sum(d.amount_units) as held_units, p.created_at
       from topups p
       join deposits d on d.topup_id = p.id and d.held and d.state in ('included', 'final')
       join customers c on c.id = p.customer_id
      where p.credit_held
      group by p.id, c.id order by p.created_at, p.id`,
  );
}
