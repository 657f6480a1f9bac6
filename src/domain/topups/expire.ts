import { depositsOf } from '../../store/deposits.ts';
import { lockExpiredTopups } from '../../store/topups.ts';
import type { Service } from '../context.ts';
import { systemActor } from '../record.ts';
import { isOn } from '../switches/switch.ts';
import { settle } from './settle.ts';

/** Ends waiting invoices whose time is up, at most `limit`; returns how many. */
export async function expireTopups(service: Service, limit: number): Promise<number> {
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const mayCredit = await isOn(tx, 'topup-credit');
    const expired = await lockExpiredTopups(tx, now, limit);
    for (const topup of expired) {
      const deposits = await depositsOf(tx, topup.id);
      await settle(tx, { topup, deposits, before: deposits, mayCredit, actor: systemActor(now), now });
    }
    return expired.length;
  });
}
