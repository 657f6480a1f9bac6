import { nextCalendarDue, sweepCalendar } from '../domain/billing/sweep.ts';
import type { Service } from '../domain/context.ts';
import type { Job } from './job.ts';

/** Renews, suspends, and destroys servers by the billing calendar. */
export function renewJob(service: Service): Job {
  return {
    name: 'renew',
    run: () => sweepCalendar(service),
    nextDue: () => nextCalendarDue(service),
    busy: async () => false,
  };
}
