/** Faults in billing cycles and business time. */
import type { Mutation } from './mutation.ts';

export const CALENDAR: readonly Mutation[] = [
  {
    name: 'a cycle ends a day early after a short month',
    file: 'src/kernel/time.ts',
    find: 'Math.min(anchorDay, lastDay)',
    replace: 'Math.min(anchorDay, 28)',
    caughtBy: { file: 'test/kernel/time.test.ts', name: 'a cycle ends on February 29 only in leap years' },
    budgetS: 20,
    figure: 'clock',
  },
  {
    name: 'the next cycle counts from now, not from the end of the last one',
    file: 'src/domain/billing/end-cycle.ts',
    find: 'const end = await chargeCycle(tx, server, { from, anchorDay, price }, now);',
    replace: 'const end = await chargeCycle(tx, server, { from: now, anchorDay, price }, now);',
    caughtBy: {
      file: 'test/domain/billing/renewals.test.ts',
      name: 'renewals missed during downtime happen cycle by cycle',
    },
    budgetS: 40,
    figure: 'clock',
  },
  {
    name: 'a renewal forgets the day of the month on which the server began',
    file: 'src/domain/servers/billing/charge.ts',
    find: 'const paidUntil = addMonths(next.from, server.billing_months, anchorDay);',
    replace: 'const paidUntil = addMonths(next.from, server.billing_months, next.from.getUTCDate());',
    caughtBy: {
      file: 'test/domain/billing/renewals.test.ts',
      name: 'a server keeps the anchor day January 31 over short months',
    },
    budgetS: 40,
    figure: 'clock',
  },
];
