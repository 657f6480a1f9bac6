import { nextCalendarDue, sweepCalendar } from '../domain/billing/sweep.ts';
import type { Service } from '../domain/context.ts';
import type { Duty } from './duty.ts';

/** Bills by the calendar. */
export function renewDuty(service: Service): Duty {
  return {
    name: 'renew',
    run: () => sweepCalendar(service),
    nextDue: () => nextCalendarDue(service),
    busy: async () => false,
  };
}
