/** Bills one due server. Every check sets the time of the next one. */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { type BillingServerRow, lockFirstDueServer, tryLockCalendar } from '../../store/billing/calendar.ts';
import { setBillAt } from '../../store/billing/cycles.ts';
import { isUnavailable } from '../../store/db.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { priceWithAnnouncement } from '../servers/billing/price.ts';
import type { BillingOutcome } from './end-cycle.ts';
import { endCycle } from './end-cycle.ts';
import { notifyIfLow } from './low-balance.ts';
import { processSuspended } from './suspended.ts';

/** The retry delay for a server that cannot be billed because its data is faulty. */
const RETRY_DELAY_MS = HOUR_MS;

/**
 * Bills the customer's first due server in one transaction. A server that fails is logged and postponed, so
 * that it does not block the others.
 */
export async function billNextDue(
  service: Service,
  customerId: string,
): Promise<BillingOutcome | 'none' | 'elsewhere'> {
  let id: string | undefined;
  try {
    return await service.db.transaction(async (tx) => {
      if (!(await tryLockCalendar(tx, customerId))) return 'elsewhere';
      const now = service.clock.now();
      const server = await lockFirstDueServer(tx, customerId, now);
      id = server?.id;
      return server ? await billServer(tx, service, server, now) : 'none';
    });
  } catch (error) {
    if (id === undefined || isUnavailable(error)) throw error;
    service.log.error({ err: error, server: formatId('server', id) }, 'billing the server failed; postponed');
    await setBillAt(service.db, id, new Date(service.clock.now().getTime() + RETRY_DELAY_MS));
    return 'checked';
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
    // A server that has never run owes nothing. Its first run starts its calendar.
    await setBillAt(tx, server.id, null);
    return 'checked';
  }
  if (server.paid_until <= now) return await endCycle(tx, service, server, now);
  return await checkUpcomingRenewal(tx, service, server, now);
}

/** Before the end of the cycle: warns if the balance cannot cover the renewal, or if renewal is off. */
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
    return 'checked';
  }
  const notified = server.low_notified_for?.getTime() === paidUntil.getTime();
  if (!server.auto_renew) await notifyServerEnding(tx, service, server, now);
  else if (!notified) await notifyIfLow(tx, service, server.customer_id, [server], now);
  await setBillAt(tx, id, paidUntil);
  return 'checked';
}

/** Sent once per cycle: the cause contains its end. */
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
    priceCents: priceWithAnnouncement(server, server.announced_cents_month).cycleCents,
    isProtected: server.protect_delete,
  };
  const cause = `ends:${id}:${paidUntil.toISOString()}`;
  await enqueueMail(tx, { customerId, kind: 'server_ends', cause, data }, now, keys);
}
