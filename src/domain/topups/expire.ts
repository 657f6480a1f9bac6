import { isUnavailable } from '../../store/db.ts';
import { listDeposits } from '../../store/deposits.ts';
import { findExpiredTopups, lockTopup } from '../../store/topups.ts';
import type { Service } from '../context.ts';
import { systemActor } from '../record.ts';
import { isSwitchOn } from '../switches/switch.ts';
import { settle } from './settle.ts';

export interface ExpireResult {
  /** How many invoices ended. */
  readonly ended: number;
  /** Invoices that could not be settled: each was logged and is still pending. */
  readonly failed: readonly string[];
}

/**
 * Ends waiting invoices whose time is up, at most `limit`, but for those in `except`. Each is a transaction of its own:
 * one that fails keeps back no other.
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
      // Without a database none of them can be settled now.
      if (isUnavailable(error)) throw error;
      service.log.error({ err: error, topup: id }, 'a top-up could not be ended');
      failed.push(id);
    }
  }
  return { ended, failed };
}

/** Under the invoice's lock; false when it was paid, cancelled or ended meanwhile. */
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
