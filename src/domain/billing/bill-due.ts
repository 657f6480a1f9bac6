/** What the calendar does with a server whose turn it is; each look says when the next one is. */

import { crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { setBillAt } from '../../store/billing.ts';
import { type BillingServerRow, lockFirstDueServer, tryLockCalendar } from '../../store/calendar.ts';
import { isUnavailable } from '../../store/db.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { announcedPrice } from '../servers/price.ts';
import { endCycle } from './end-cycle.ts';
import { notifyIfLow } from './low-balance.ts';
import type { BillingOutcome } from './outcome.ts';
import { processSuspended } from './suspended.ts';

/** A server that cannot be billed (a fault in its data) has its turn again so much later. */
const RETRY_DELAY_MS = HOUR_MS;

/**
 * Bills the customer's server that is due and whose turn it is, in one transaction. One that fails is put off and the
 * operator told: the others have their turn.
 */
export async function billNextDue(
  service: Service,
  customerId: string,
): Promise<BillingOutcome | 'none' | 'elsewhere'> {
  let id: string | undefined;
  try {
    const outcome = await service.db.transaction(async (tx) => {
      if (!(await tryLockCalendar(tx, customerId))) return 'elsewhere';
      const now = service.clock.now();
      const server = await lockFirstDueServer(tx, customerId, now);
      id = server?.id;
      return server ? await billServer(tx, service, server, now) : 'none';
    });
    if (outcome === 'renewed') crashPoint('renew.committed');
    else if (outcome !== 'none' && outcome !== 'elsewhere' && outcome !== 'looked')
      crashPoint('suspend.committed');
    return outcome;
  } catch (error) {
    if (id === undefined || isUnavailable(error)) throw error;
    service.log.error(
      { err: error, server: formatId('server', id) },
      'server could not be billed and is put off',
    );
    await setBillAt(service.db, id, new Date(service.clock.now().getTime() + RETRY_DELAY_MS));
    return 'looked';
  }
}

async function billServer(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<BillingOutcome> {
  const { status } = server;
  if (status === 'suspended') return await processSuspended(tx, service, server, now);
  if (status === 'destroying' || server.first_run_at === null) {
    // One that has not run has had nothing yet: its first run begins its calendar.
    await setBillAt(tx, server.id, null);
    return 'looked';
  }
  if (server.paid_until <= now) return await endCycle(tx, service, server, now);
  return await checkUpcomingRenewal(tx, service, server, now);
}

/** Before the end of its cycle: in the window before it, whether the balance pays what renews; of what does not renew its customer is told. */
async function checkUpcomingRenewal(
  tx: Sql,
  service: Service,
  server: BillingServerRow,
  now: Date,
): Promise<BillingOutcome> {
  const { id, paid_until: paidUntil } = server;
  const windowFrom = new Date(paidUntil.getTime() - LIMITS.lowBalanceDays * DAY_MS);
  if (now < windowFrom) {
    await setBillAt(tx, id, windowFrom);
    return 'looked';
  }
  const notified = server.low_notified_for?.getTime() === paidUntil.getTime();
  if (!server.auto_renew) await notifyServerEnding(tx, service, server, now);
  else if (!notified) await notifyIfLow(tx, service, server.customer_id, [server], now);
  await setBillAt(tx, id, paidUntil);
  return 'looked';
}

/** Once for each cycle: the cause is the cycle's. */
async function notifyServerEnding(
  tx: Sql,
  { keys }: Service,
  server: BillingServerRow,
  now: Date,
): Promise<void> {
  const { id, customer_id: customerId, paid_until: paidUntil } = server;
  const data = {
    server: server.name,
    months: server.billing_months,
    paidUntil,
    priceCents: announcedPrice(server, server.announced_cents_month).cycleCents,
  };
  const cause = `ends:${id}:${paidUntil.toISOString()}`;
  await enqueueMail(tx, { customerId, kind: 'server_ends', cause, data }, now, keys);
}
