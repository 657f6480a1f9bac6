/** Transfers and balances. Only domain/ledger/transfer.ts and the deploy statement write here. */
import type { Sql } from '../kernel/sql.ts';

export type TransferType = 'charge' | 'topup' | 'bonus' | 'refund' | 'adjustment' | 'reversal';
export type ResourceKind = 'server' | 'topup';

export interface TransferRow {
  readonly id: string;
  readonly debit_account: string;
  readonly credit_account: string;
  readonly amount_cents: bigint;
  readonly customer_id: string;
  readonly type: TransferType;
  readonly resource_kind: ResourceKind | null;
  readonly resource_id: string | null;
  readonly description: string;
  readonly fact: string;
  readonly reverses: string | null;
  readonly created_at: Date;
}

/**
 * Books one transfer and moves the customer's balance in one statement. Returns the balance after it, or
 * undefined when it would take the balance below zero and may not. A fact booked before breaks `transfers_fact_key`.
 */
export async function insertTransfer(
  tx: Sql,
  row: TransferRow,
  mayOverdraw: boolean,
): Promise<bigint | undefined> {
  const delta = row.credit_account === row.customer_id ? row.amount_cents : -row.amount_cents;
  const booked = await tx.row<{ balance_after_cents: bigint }>(
    `with moved as (
       update balances set balance_cents = balance_cents + $13
        where customer_id = $5 and ($13 > 0 or $14 or balance_cents + $13 >= 0)
       returning balance_cents)
     insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, resource_kind,
                            resource_id, description, fact, reverses, balance_after_cents, created_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, balance_cents, $12 from moved
     returning balance_after_cents`,
    [
      row.id,
      row.debit_account,
      row.credit_account,
      row.amount_cents,
      row.customer_id,
      row.type,
      row.resource_kind,
      row.resource_id,
      row.description,
      row.fact,
      row.reverses,
      row.created_at,
      delta,
      mayOverdraw,
    ],
  );
  return booked?.balance_after_cents;
}

export async function findTransfer(tx: Sql, id: string): Promise<TransferRow | undefined> {
  return await tx.row<TransferRow>(
    `select id, debit_account, credit_account, amount_cents, customer_id, type, resource_kind, resource_id,
            description, fact, reverses, created_at
       from transfers where id = $1`,
    [id],
  );
}

/** The customer's balance in cents. */
export async function readBalance(tx: Sql, customerId: string): Promise<bigint> {
  const row = await tx.row<{ balance_cents: bigint }>(
    `select balance_cents from balances where customer_id = $1`,
    [customerId],
  );
  return row?.balance_cents ?? 0n;
}

/** Locks the customer's balance: the second lock in the order server, customer, host, address. */
export async function lockBalance(tx: Sql, customerId: string): Promise<bigint | undefined> {
  const row = await tx.row<{ balance_cents: bigint }>(
    `select balance_cents from balances where customer_id = $1 for update`,
    [customerId],
  );
  return row?.balance_cents;
}
