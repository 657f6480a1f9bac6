import type { Service } from '../domain/context.ts';
import { expireTopups } from '../domain/topups/expire.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { nextTopupExpiry } from '../store/topups.ts';
import type { Duty } from './duty.ts';

const BATCH = 100;
/** An invoice that could not be ended is left alone for so long: it is no news, and the next one has its turn. */
const LEFT_ALONE_MS = MINUTE_MS;

/** Ends invoices that nobody paid in time. */
export function expireTopupsDuty(service: Service): Duty {
  // Until when by real time each is left alone.
  const failed = new Map<string, number>();
  const leftAlone = (): string[] => {
    for (const [id, until] of failed) if (until <= Date.now()) failed.delete(id);
    return [...failed.keys()];
  };
  return {
    name: 'expire-topups',
    run: async () => {
      const expired = await expireTopups(service, { limit: BATCH, except: leftAlone() });
      for (const id of expired.failed) failed.set(id, Date.now() + LEFT_ALONE_MS);
      return expired.ended + expired.failed.length;
    },
    nextDue: () => nextTopupExpiry(service.db, leftAlone()),
    busy: async () => false,
  };
}
