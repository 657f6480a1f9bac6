/** Operator commands about a customer: credit, debit, freeze. */

import { fail } from '../../kernel/fail.ts';
import { newId, parseId } from '../../kernel/ids.ts';
import { formatCents, parseUnits } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  type CustomerRow,
  findCustomer,
  findCustomerByEmail,
  setCustomerFrozen,
} from '../../store/customers/customers.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import type { Service } from '../context.ts';
import { charge, credit, type Transfer } from '../ledger/transfer.ts';
import { recordAudit, systemActor } from '../record.ts';
import { parseEmail } from './email/email.ts';

/** Returns the customer that the operator names by email address or by `cus_…`. */
export async function requireCustomer(tx: Sql, name: string): Promise<CustomerRow> {
  const id = parseId('customer', name);
  if (id !== undefined) return (await findCustomer(tx, id)) ?? customerNotFound('id');
  const key = parseEmail(name)?.key;
  return (key !== undefined && (await findCustomerByEmail(tx, key))) || customerNotFound('email address');
}

function customerNotFound(by: string): never {
  throw new OperatorError(`no customer has this ${by}`);
}

/** A larger amount is a typing error. */
const ADJUSTMENT_MAX_CENTS = 100_000_000_00n;

interface AdjustmentOrder {
  /** Or `cus_…`. */
  readonly email: string;
  readonly amountUsd: string;
  /** The customer reads it in the ledger. */
  readonly reason: string;
}

/** Credits a customer: goodwill, an external payment, or a correction. Every call books a new entry. */
export async function creditCustomer(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  order: AdjustmentOrder,
): Promise<Transfer> {
  return await adjustBalance(service, order, { book: credit, action: 'customer.credit' });
}

/**
 * Debits a customer: a correction, or a payment that was returned. Every call books a new entry. Fails with
 * `insufficient_balance` instead of making the balance negative, which only a reversal may.
 */
export async function debitCustomer(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  order: AdjustmentOrder,
): Promise<Transfer> {
  return await adjustBalance(service, order, { book: chargeAtMostBalance, action: 'customer.debit' });
}

const chargeAtMostBalance: typeof charge = async (tx, movement, now) => {
  const balanceCents = (await lockBalance(tx, movement.customerId)) ?? 0n;
  if (movement.amountCents <= balanceCents) return await charge(tx, movement, now);
  const why = `The balance is ${formatCents(balanceCents)} USD. A debit cannot make it negative.`;
  return fail('insufficient_balance', { field: 'amount_usd' }, why);
};

async function adjustBalance(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  order: AdjustmentOrder,
  { book, action }: { readonly book: typeof credit; readonly action: 'customer.credit' | 'customer.debit' },
): Promise<Transfer> {
  const amountCents = parseUnits(order.amountUsd, 2) ?? 0n;
  if (amountCents <= 0n || amountCents > ADJUSTMENT_MAX_CENTS) {
    throw new OperatorError(
      'the amount must be in US dollars, above 0, with at most 2 decimals, such as 25.50',
    );
  }
  const description = order.reason.trim();
  if (!/^\P{C}{1,200}$/u.test(description)) {
    throw new OperatorError('the reason must have 1 to 200 characters; the customer reads it in the ledger');
  }
  const now = service.clock.now();
  const transfer = await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, order.email);
    const fact = `adjustment:${newId(now)}`;
    const movement = { customerId, account: 'adjustments', amountCents, type: 'adjustment' } as const;
    const booked = await book(tx, { ...movement, description, fact }, now);
    await recordAudit(tx, { actor: systemActor(now), action, resource: null, customerId }, now);
    return booked;
  });
  service.wake();
  return transfer;
}

/**
 * Freezes or unfreezes: everything is readable, nothing can be changed, and servers keep running. Returns
 * false if there is no change.
 */
export async function freezeCustomer(
  service: Pick<Service, 'db' | 'clock'>,
  email: string,
  frozen: boolean,
): Promise<boolean> {
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, email);
    if (!(await setCustomerFrozen(tx, customerId, frozen ? now : null))) return false;
    const action = frozen ? 'customer.freeze' : 'customer.unfreeze';
    await recordAudit(tx, { actor: systemActor(now), action, resource: null, customerId }, now);
    return true;
  });
}
