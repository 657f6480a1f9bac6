/**
 * Billing by the calendar. Every server that has run has a moment (`bill_at`) at which it is looked at next: the window
 * before the end of its cycle opens, the cycle ends, a warning is due, a grace period ends. Looking does what is due and sets the next
 * moment, in one transaction, so it may happen twice, or late, or in another process.
 *
 * What is due at once for one customer has an order (by cycle end, then age), because the balance may pay only some of it: whoever
 * works on a customer holds his calendar (an advisory lock) and takes the first server that is due then. Customers are independent
 * of each other.
 *
 * Every movement of a balance marks its row, and is followed here after its commit: nothing is added to the locks of a deploy.
 */
import { SWITCHES } from '../../spec/switches.ts';
import { findCalendarWork, listDueCustomers, nextBillAt } from '../../store/calendar.ts';
import type { Service } from '../context.ts';
import { isSwitchOn } from '../switches/switch.ts';
import { processBalanceChanges } from './balance-changes.ts';
import { billNextDue } from './bill-due.ts';
import { notifyPriceChanges } from './notify-prices.ts';
import { sumConcurrent } from './sum-concurrent.ts';

/** Does one bounded batch of what is due now; returns how much there was, 0 when nothing is left. One statement when there is nothing. */
export async function sweepCalendar(service: Service): Promise<number> {
  const work = await findCalendarWork(service.db, service.clock.now());
  if (!work || !(work.on ?? SWITCHES.renewals.default)) return 0;
  let did = 0;
  if (work.due) did += await billDue(service);
  if (work.moved) did += await processBalanceChanges(service);
  if (work.unnotified) did += await notifyPriceChanges(service);
  if (did > 0) service.wake();
  return did;
}

/** When the calendar has something to do next, on the business clock; null: never, or it is switched off. */
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
  for (let did = 0; did < servers; did++) {
    const outcome = await billNextDue(service, customerId);
    if (outcome === 'none') return did;
    if (outcome === 'elsewhere') return did + 1;
  }
  return servers;
}
