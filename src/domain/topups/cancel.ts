import { fail, notFound } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findTransition, TOPUP_TRANSITIONS } from '../../spec/states.ts';
import { findCustomer } from '../../store/customers/customers.ts';
import { lockTopupByRef, type TopupRow, updateTopup } from '../../store/topups/topups.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

/**
 * Cancels a pending invoice. `beforeCommit` runs in the same transaction. Fails with `not_found`,
 * `account_frozen`, or `not_cancellable` once a payment was seen. The row's lock decides which came first.
 */
export async function cancelTopup(
  service: Service,
  actor: CustomerActor,
  orderRef: string,
  options: { readonly beforeCommit?: (tx: Sql) => Promise<void> } = {},
): Promise<TopupRow> {
  return await service.db.transaction(async (tx) => {
    const topup = (await lockTopupByRef(tx, actor.customerId, orderRef)) ?? notFound('topup');
    if ((await findCustomer(tx, actor.customerId))?.frozen_at) fail('account_frozen');
    if (topup.status !== 'pending') fail('not_cancellable');
    const now = service.clock.now();
    const { to } = findTransition(TOPUP_TRANSITIONS, 'pending', 'cancel');
    const cancelled = { ...topup, status: to, cancelled_at: now };
    await updateTopup(tx, cancelled);
    await recordAudit(tx, { actor, action: 'topup.cancel', resource: formatId('topup', topup.id) }, now);
    await options.beforeCommit?.(tx);
    return cancelled;
  });
}
