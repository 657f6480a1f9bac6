/** The operator's hand on a balance: goodwill, a payment that came another way, a correction. */
import { newId } from '../../kernel/ids.ts';
import { parseUnits } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Service } from '../context.ts';
import { credit, type Transfer } from '../ledger/transfer.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireCustomer } from './by-email.ts';

/** More than this at once is a slip of the keyboard. */
const CREDIT_MAX_CENTS = 100_000_000_00n;

/** Adds to a customer's balance; `reason` is what the customer reads in the ledger. Each call books anew. */
export async function creditCustomer(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  order: { readonly email: string; readonly amountUsd: string; readonly reason: string },
): Promise<Transfer> {
  const amountCents = parseUnits(order.amountUsd, 2) ?? 0n;
  if (amountCents <= 0n || amountCents > CREDIT_MAX_CENTS) {
    throw new OperatorError('the amount is in US dollars, above 0, with at most two decimals, such as 25.50');
  }
  const reason = order.reason.trim();
  if (!/^\P{C}{1,200}$/u.test(reason)) {
    throw new OperatorError('the reason is 1 to 200 characters: the customer reads it in the ledger');
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
