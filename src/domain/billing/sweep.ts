/**
 * The billing calendar. Every server that has run has a time of its next check (`bill_at`): the low-balance
 * window opens, the cycle ends, a warning is due, or the grace period ends. A check does the work that is
 * due and sets the next time in one transaction, so it may run twice, late, or in another process.
 *
 * A customer's due servers are billed in order of cycle end, then age, because the balance may cover only
 * some of them. A worker holds an advisory lock on the customer's calendar and takes the first due servers.
 * Customers are independent.
 *
 * Every balance change marks its row and is processed here after its commit, so a deploy takes no
 * additional locks.
 */
import { SWITCHES } from '../../spec/switches.ts';
import { findCalendarWork, listDueCustomers, nextBillAt } from '../../store/billing/calendar.ts';
import type { Service } from '../context.ts';
import { isSwitchOn } from '../rules/switches.ts';
import { processBalanceChanges } from './balance-changes.ts';
import { billDueServers } from './bill-due.ts';
import { advanceCalendar } from './leap.ts';
import { processNegativeBalances } from './negative-balance.ts';
import { notifyPriceChanges } from './notify-prices.ts';
import { sumConcurrent } from './sum-concurrent.ts';

/**
 * Processes one bounded batch of due work and returns its size; 0 if none is left. Runs one statement when
 * idle.
 */
export async function sweepCalendar(service: Service): Promise<number> {
  const work = await findCalendarWork(service.db, service.clock.now());
  if (!work || !(await advanceCalendar(service, work.ranUntil))) return 0;
  if (!(work.on ?? SWITCHES.renewals.default)) return 0;
  let did = 0;
  if (work.due) did += await billDue(service);
  if (work.negative) did += await processNegativeBalances(service);
  if (work.moved) did += await processBalanceChanges(service);
  if (work.unnotified) did += await notifyPriceChanges(service);
  if (did > 0) service.wake();
  return did;
}

/**
 * Returns the time of the next due work on the business clock; null if there is none or renewals are
 * switched off.
 */
export async function nextCalendarDue(service: Pick<Service, 'db'>): Promise<Date | null> {
  return (await isSwitchOn(service.db, 'renewals')) ? await nextBillAt(service.db) : null;
}

async function billDue(service: Service): Promise<number> {
  const customers = await listDueCustomers(service.db, service.clock.now());
  return await sumConcurrent(customers, (customer) => billCustomer(service, customer));
}

async function billCustomer(
  service: Service,
  { customerId, servers }: { readonly customerId: string; readonly servers: number },
): Promise<number> {
  let did = 0;
  while (did < servers) {
    const billed = await billDueServers(service, customerId, servers - did);
    if (billed === 'elsewhere') return did + 1;
    if (billed === 0) return did;
    did += billed;
  }
  return did;
}
