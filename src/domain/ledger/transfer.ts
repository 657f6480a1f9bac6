/**
 * The ledger: the only door to money.
 *
 * One row of `transfers` is one movement: a debit account, a credit account, an amount above zero. What one side
 * loses the other gains, so the books sum to zero by construction and no row can unbalance them. Rows are never
 * changed or removed (the database refuses it): a mistake is put right by a reversal, which names what it reverses,
 * and a transfer can be reversed once.
 *
 * Every movement states the fact that caused it (`fact`, unique): a deposit's output, a server and its cycle. A
 * step that runs twice meets its own fact and books nothing.
 *
 * A customer's account is the customer's id. Only customers have a balance row, moved in the same statement as
 * the transfer is booked; the house's own accounts would be the hottest rows there are, and their balances are
 * sums that `skerryd verify` takes when asked. Spending needs a sufficient balance in that statement. Only a reversal
 * may take a balance below zero, and nothing new can be bought until it is repaid.
 */
import { fail } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findTransfer, insertTransfer, type ResourceKind, type TransferType } from '../../store/ledger.ts';

/** The house's own accounts, by fixed ids. */
export const HOUSE = {
  /** What servers cost. */
  revenue: '00000000-0000-0000-0000-000000000001',
  /** Coins received. */
  deposits: '00000000-0000-0000-0000-000000000002',
  /** Bonuses granted. */
  bonuses: '00000000-0000-0000-0000-000000000003',
  /** The operator's credits and corrections. */
  adjustments: '00000000-0000-0000-0000-000000000004',
} as const;
export type HouseAccount = keyof typeof HOUSE;

export interface Transfer {
  readonly id: string;
  /** Cents added to the customer's balance, negative when taken. */
  readonly amountCents: bigint;
  readonly balanceAfterCents: bigint;
}

export interface Movement {
  readonly customerId: string;
  readonly account: HouseAccount;
  /** Above zero. */
  readonly amountCents: bigint;
  readonly type: TransferType;
  readonly resource?: { readonly kind: ResourceKind; readonly id: string } | null;
  readonly description: string;
  readonly fact: string;
}

/** Adds to a customer's balance from an account of the house. */
export async function credit(tx: Sql, movement: Movement, now: Date): Promise<Transfer> {
  return await bookTransfer(tx, movement, HOUSE[movement.account], movement.customerId, now);
}

/** Takes from a customer's balance; refuses with `insufficient_balance` when it does not suffice. */
export async function charge(tx: Sql, movement: Movement, now: Date): Promise<Transfer> {
  return await bookTransfer(tx, movement, movement.customerId, HOUSE[movement.account], now);
}

async function bookTransfer(
  tx: Sql,
  movement: Movement,
  debit: string,
  credited: string,
  now: Date,
): Promise<Transfer> {
  const id = newId(now);
  const balanceAfterCents = await insertTransfer(
    tx,
    {
      id,
      debit_account: debit,
      credit_account: credited,
      amount_cents: movement.amountCents,
      customer_id: movement.customerId,
      type: movement.type,
      resource_kind: movement.resource?.kind ?? null,
      resource_id: movement.resource?.id ?? null,
      description: movement.description,
      fact: movement.fact,
      reverses: null,
      created_at: now,
    },
    false,
  );
  const isDebit = debit === movement.customerId;
  if (balanceAfterCents === undefined) {
    if (!isDebit) throw new Error('no such account to credit');
    fail('insufficient_balance', { need: centsToUsd(movement.amountCents) });
  }
  return { id, amountCents: isDebit ? -movement.amountCents : movement.amountCents, balanceAfterCents };
}

/** Books the opposite of a transfer, once. It may take the balance below zero. */
export async function reverse(
  tx: Sql,
  reversal: { readonly transferId: string; readonly description: string },
  now: Date,
): Promise<Transfer> {
  const original = await findTransfer(tx, reversal.transferId);
  if (!original) throw new Error('no such transfer to reverse');
  const id = newId(now);
  const balanceAfterCents = await insertTransfer(
    tx,
    {
      ...original,
      id,
      debit_account: original.credit_account,
      credit_account: original.debit_account,
      type: 'reversal',
      description: reversal.description,
      fact: `reversal:${original.id}`,
      reverses: original.id,
      created_at: now,
    },
    true,
  );
  if (balanceAfterCents === undefined) throw new Error('the account of the reversed transfer is gone');
  const isDebit = original.credit_account === original.customer_id;
  return { id, amountCents: isDebit ? -original.amount_cents : original.amount_cents, balanceAfterCents };
}
