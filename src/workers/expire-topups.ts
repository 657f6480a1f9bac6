import type { Service } from '../domain/context.ts';
import { expireTopups } from '../domain/topups/expire.ts';
import { nextTopupExpiry } from '../store/topups.ts';
import type { Duty } from './duty.ts';

const BATCH = 100;

/** Ends invoices that nobody paid in time. */
export function expireTopupsDuty(service: Service): Duty {
  return {
    name: 'expire-topups',
    run: () => expireTopups(service, BATCH),
    nextDue: () => nextTopupExpiry(service.db),
    busy: async () => false,
  };
}
