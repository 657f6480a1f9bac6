/** Credits a customer on behalf of the operator: goodwill, an external payment, or a correction. */
import { newId } from '../../kernel/ids.ts';
import { parseUnits } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Service } from '../context.ts';
import { credit, type Transfer } from '../ledger/transfer.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireCustomer } from './by-email.ts';

/** A larger amount is a typing error. */
const CREDIT_MAX_CENTS = 100_000_000_00n;

/** Credits a customer. The customer reads `reason` in the ledger. Every call books a new entry. */
export async function creditCustomer(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  order: { readonly email: string; readonly amountUsd: string; readonly reason: string },
): Promise<Transfer> {
  const amountCents = parseUnits(order.amountUsd, 2) ?? 0n;
  if (amountCents <= 0n || amountCents > CREDIT_MAX_CENTS) {
    throw new OperatorError(
      'the amount must be in US dollars, above 0, with at most 2 decimals, such as 25.50',
    );
  }
  const reason = order.reason.trim();
  if (!/^\P{C}{1,200}$/u.test(reason)) {
    throw new OperatorError('the reason must have 1 to 200 characters; the customer reads it in the ledger');
  }
  const now = service.clock.now();
  const transfer = await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, order.email);
    const booked = await credit(
      tx,
      {
        customerId,
        account: 'adjustments',
        amountCents,
        type: 'adjustment',
        description: reason,
        fact: `adjustment:${newId(now)}`,
      },
      now,
    );
    await recordAudit(
      tx,
      { actor: systemActor(now), action: 'customer.credit', resource: null, customerId },
      now,
    );
    return booked;
  });
  service.wake();
  return transfer;
}
