/** Bills a customer's due servers. Every check sets the time of the next one. */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import {
  type BillingServerRow,
  lockDueServers,
  setCheckAtEnd,
  tryLockCalendar,
} from '../../store/billing/calendar.ts';
import { setBillAt } from '../../store/billing/cycles.ts';
import { isUnavailable, LOCK_NOT_AVAILABLE, sqlState } from '../../store/connections/errors.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { priceWithAnnouncement } from '../servers/billing/price.ts';
import { endCycle } from './end-cycle.ts';
import { notifyIfLow } from './low-balance.ts';
import { processSuspended } from './suspended.ts';

/** Servers of one transaction: their locks and that of the balance are held for some 50 ms. */
const BATCH_SIZE = 32;
/** A batch does not keep the locks that it has while it waits for another. */
const BATCH_LOCK_TIMEOUT = '1s';
/** The retry delay for a server that cannot be billed because its data is faulty. */
const RETRY_DELAY_MS = HOUR_MS;

/**
 * Bills the customer's first due servers, at most `limit`, in one transaction. If it fails, bills each in a
 * transaction of its own: a server that fails is logged and postponed, so that it does not block the others.
 * Returns how many were billed, or `elsewhere` while another process bills the customer.
 */
export async function billDueServers(
  service: Service,
  customerId: string,
  limit: number,
): Promise<number | 'elsewhere'> {
  let ids: readonly string[] = [];
  try {
    return await service.db.transaction(async (tx) => {
      ids = [];
      const wait = limit > 1 ? BATCH_LOCK_TIMEOUT : undefined;
      if (!(await tryLockCalendar(tx, customerId, wait))) return 'elsewhere';
      const now = service.clock.now();
      const servers = await lockDueServers(tx, customerId, { now, limit: Math.min(limit, BATCH_SIZE) });
      ids = servers.map(({ id }) => id);
      return await billServers(tx, service, servers, now);
    });
  } catch (error) {
    if (limit > 1 && sqlState(error) === LOCK_NOT_AVAILABLE)
      return await billDueServers(service, customerId, 1);
    const [first] = ids;
    if (first === undefined || isUnavailable(error)) throw error;
    if (ids.length > 1) {
      service.log.warn(
        { err: error, servers: ids.length },
        'billing servers together failed; one by one now',
      );
      return await billOneByOne(service, customerId, ids.length);
    }
    service.log.error(
      { err: error, server: formatId('server', first) },
      'billing the server failed; postponed',
    );
    await setBillAt(service.db, first, new Date(service.clock.now().getTime() + RETRY_DELAY_MS));
    return 1;
  }
}

async function billOneByOne(
  service: Service,
  customerId: string,
  limit: number,
): Promise<number | 'elsewhere'> {
  for (let did = 0; did < limit; did++) {
    const billed = await billDueServers(service, customerId, 1);
    if (billed === 'elsewhere') return billed;
    if (billed === 0) return did;
  }
  return limit;
}

/**
 * In billing order: the balance may cover only some. Checks before the end of a cycle share their reads.
 * Returns how many were billed: after a server that missed a cycle, the order is another.
 */
async function billServers(
  tx: Sql,
  service: Service,
  servers: readonly BillingServerRow[],
  now: Date,
): Promise<number> {
  const upcoming: BillingServerRow[] = [];
  for (const [index, server] of servers.entries()) {
    if (server.status === 'suspended') {
      await processSuspended(tx, service, server, now);
    } else if (server.status === 'destroying' || server.first_run_at === null) {
      // A server that has never run owes nothing. Its first run starts its calendar.
      await setBillAt(tx, server.id, null);
    } else if (server.paid_until <= now) {
      const end = await endCycle(tx, service, server, now);
      if (end !== null && end <= now) return index + 1;
    } else {
      upcoming.push(server);
    }
  }
  await checkUpcomingRenewals(tx, service, upcoming, now);
  return servers.length;
}

/** Before the end of the cycle: warns if the balance cannot cover the renewal, or if renewal is off. */
async function checkUpcomingRenewals(
  tx: Sql,
  service: Service,
  servers: readonly BillingServerRow[],
  now: Date,
): Promise<void> {
  const [first] = servers;
  if (first === undefined) return;
  const windowFrom = ({ paid_until: paidUntil }: BillingServerRow) =>
    new Date(paidUntil.getTime() - LIMITS.lowBalanceDays * DAY_MS);
  for (const server of servers.filter((row) => now < windowFrom(row)))
    await setBillAt(tx, server.id, windowFrom(server));
  const open = servers.filter((server) => now >= windowFrom(server));
  for (const server of open.filter((row) => !row.auto_renew))
    await notifyServerEnding(tx, service, server, now);
  const unnotified = open.filter(
    ({ auto_renew: renews, low_notified_for: notifiedFor, paid_until: end }) =>
      renews && notifiedFor?.getTime() !== end.getTime(),
  );
  await notifyIfLow(tx, service, first.customer_id, unnotified, now);
  await setCheckAtEnd(
    tx,
    open.map(({ id }) => id),
  );
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
