import { crashPoint } from '../../../kernel/crash.ts';
import type { Sql } from '../../../kernel/sql.ts';
import {
  anonymizeCustomer,
  hasRemainingResources,
  lockDeletingCustomer,
} from '../../../store/customers/deletion.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import type { Service } from '../../context.ts';
import { charge } from '../../ledger/transfer.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { recordAudit, systemActor } from '../../record.ts';

/**
 * Completes an account deletion: forfeits the balance, anonymizes the row, and queues the last mail.
 * Returns false if resources remain.
 */
export async function forgetCustomer(service: Service, customerId: string): Promise<boolean> {
  const forgotten = await service.db.transaction(async (tx) => {
    const leaving = await lockDeletingCustomer(tx, customerId);
    if (!leaving || leaving.frozen_at !== null || leaving.deleted_at !== null) return false;
    if (await hasRemainingResources(tx, customerId)) return false;
    const now = service.clock.now();
    await forfeitBalance(tx, customerId, now);
    await anonymizeCustomer(tx, customerId, now);
    const mail = { customerId, kind: 'account_deleted', cause: `account:${customerId}` } as const;
    await enqueueMail(tx, { ...mail, to: leaving.email, data: { deletedAt: now } }, now, service.keys);
    const entry = { actor: systemActor(now), action: 'customer.forget', resource: null, customerId } as const;
    await recordAudit(tx, entry, now);
    crashPoint('account.forgotten_written');
    return true;
  });
  if (forgotten) crashPoint('account.forgotten');
  return forgotten;
}

/** Forfeits a positive balance. A debt, which only a reversal can cause, stays in the books. */
async function forfeitBalance(tx: Sql, customerId: string, now: Date): Promise<void> {
  const amountCents = (await lockBalance(tx, customerId)) ?? 0n;
  if (amountCents <= 0n) return;
  const movement = { customerId, account: 'adjustments', amountCents, type: 'adjustment' } as const;
  const description = 'Forfeited with the deleted account';
  await charge(tx, { ...movement, description, fact: `forfeit:${customerId}` }, now);
}
