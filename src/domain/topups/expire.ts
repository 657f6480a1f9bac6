import { isUnavailable } from '../../store/db.ts';
import { listDeposits } from '../../store/topups/deposits.ts';
import { findExpiredTopups, lockTopup } from '../../store/topups/topups.ts';
import type { Service } from '../context.ts';
import { systemActor } from '../record.ts';
import { isSwitchOn } from '../switches/switch.ts';
import { settle } from './settle.ts';

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
      keys: service.keys,
    });
    return true;
  });
}
