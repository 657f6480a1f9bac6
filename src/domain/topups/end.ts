/** Ends an invoice that is not paid: by its customer, or by the clock. */
import { fail, notFound } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import { findTransition, TOPUP_TRANSITIONS } from '../../spec/states.ts';
import { isUnavailable } from '../../store/connections/errors.ts';
import { findCustomer } from '../../store/customers/customers.ts';
import { listDeposits } from '../../store/topups/deposits.ts';
import {
  findExpiredTopups,
  lockTopup,
  lockTopupByRef,
  type TopupRow,
  updateTopup,
} from '../../store/topups/topups.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { isSwitchOn } from '../rules/switches.ts';
import { settle } from './settlement/settle.ts';

/**
 * Cancels a pending invoice. Fails with `not_found`,
 * `account_frozen`, or `not_cancellable` once a payment was seen. The row's lock decides which came first.
 */
export async function cancelTopup(
  service: Service,
  actor: CustomerActor,
  orderRef: string,
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
    await actor.saveResponse?.(tx, cancelled);
    return cancelled;
  });
}

export interface ExpireResult {
  /** Number of expired invoices. */
  readonly ended: number;
  /** Invoices that failed to settle. They were logged and are still pending. */
  readonly failed: readonly string[];
}

/**
 * Expires up to `limit` due invoices, except those in `except`, each in its own transaction, so that a
 * failure does not block the others.
 */
export async function expireTopups(
  service: Service,
  due: { readonly limit: number; readonly except: readonly string[] },
): Promise<ExpireResult> {
  const ids = await findExpiredTopups(service.db, { ...due, now: service.clock.now() });
  const failed: string[] = [];
  let ended = 0;
  for (const id of ids) {
    try {
      if (await expireTopup(service, id)) ended += 1;
    } catch (error) {
      // Without a database, none of them can be settled now.
      if (isUnavailable(error)) throw error;
      service.log.error({ err: error, topup: id }, 'expiring the top-up failed');
      failed.push(id);
    }
  }
  return { ended, failed };
}

/** Expires an invoice under its lock; false if it is no longer pending. */
async function expireTopup(service: Service, id: string): Promise<boolean> {
  return await service.db.transaction(async (tx) => {
    const topup = await lockTopup(tx, id);
    if (topup?.status !== 'pending') return false;
    const now = service.clock.now();
    const deposits = await listDeposits(tx, id);
    const mayCredit = await isSwitchOn(tx, 'topup-credit');
    await settle(tx, {
      topup,
      deposits,
      before: deposits,
      mayCredit,
      actor: systemActor(now),
      now,
      service,
    });
    return true;
  });
}
