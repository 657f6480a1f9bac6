/**
 * The ledger: the only code that moves money.
 *
 * One row of `transfers` is one movement: a debit account, a credit account, and an amount above zero. One
 * side gains exactly what the other loses, so the books sum to zero by construction. The database rejects
 * updates and deletes. A mistake is corrected by a reversal, which references the original; a transfer can
 * be reversed once.
 *
 * Every movement names the fact that caused it (`fact`, unique), such as a deposit's output or a server and
 * its cycle. A step that runs twice finds its fact and books nothing.
 *
 * A customer's account id is the customer's id. Only customers have a balance row, which the same statement
 * updates. The house accounts would be the hottest rows of all, so they have none: `skerryd verify` sums
 * them on demand. A charge needs a sufficient balance in that statement. Only a reversal may make a balance
 * negative, and nothing can be bought until it is repaid.
 */
import { fail } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  findTransfer,
  insertTransfer,
  type ResourceKind,
  type TransferType,
} from '../../store/ledger/ledger.ts';

/** The house accounts, with fixed ids. */
export const HOUSE = {
  /** Revenue from servers. */
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
  /** The change of the customer's balance in cents; negative for a debit. */
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

/** Credits a customer from a house account. */
export async function credit(tx: Sql, movement: Movement, now: Date): Promise<Transfer> {
  return await bookTransfer(tx, movement, HOUSE[movement.account], movement.customerId, now);
}

/** Charges a customer; fails with `insufficient_balance` if the balance is too low. */
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
    if (!isDebit) throw new Error('account to credit not found');
    fail('insufficient_balance', { need: centsToUsd(movement.amountCents) });
  }
  return { id, amountCents: isDebit ? -movement.amountCents : movement.amountCents, balanceAfterCents };
}

/** Books the opposite of a transfer, once. May make the balance negative. */
export async function reverse(
  tx: Sql,
  reversal: { readonly transferId: string; readonly description: string },
  now: Date,
): Promise<Transfer> {
  const original = await findTransfer(tx, reversal.transferId);
  if (!original) throw new Error('transfer to reverse not found');
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
  if (balanceAfterCents === undefined) throw new Error('account of the reversed transfer not found');
  const isDebit = original.credit_account === original.customer_id;
  return { id, amountCents: isDebit ? -original.amount_cents : original.amount_cents, balanceAfterCents };
}
