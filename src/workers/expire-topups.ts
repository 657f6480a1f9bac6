import type { Service } from '../domain/context.ts';
import { expireTopups } from '../domain/topups/end.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { nextTopupExpiry } from '../store/topups/topups.ts';
import type { Job } from './job.ts';

const BATCH_SIZE = 100;
/** How long to skip an invoice that could not be expired, so that it blocks neither others nor the clock. */
const RETRY_AFTER_MS = MINUTE_MS;

/** Expires invoices that were not paid in time. */
export function expireTopupsJob(service: Service): Job {
  // Real time until which each one is skipped.
  const retryAtById = new Map<string, number>();
  const coolingDownIds = (): string[] => {
    for (const [id, until] of retryAtById) if (until <= performance.now()) retryAtById.delete(id);
    return [...retryAtById.keys()];
  };
  return {
    name: 'expire-topups',
    run: async () => {
      const expired = await expireTopups(service, { limit: BATCH_SIZE, except: coolingDownIds() });
      for (const id of expired.failed) retryAtById.set(id, performance.now() + RETRY_AFTER_MS);
      return expired.ended + expired.failed.length;
    },
    nextDue: () => nextTopupExpiry(service.db, coolingDownIds()),
    busy: async () => false,
  };
}
