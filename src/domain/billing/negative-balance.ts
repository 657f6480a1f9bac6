/**
 * Suspends the servers of customers whose balance stays below zero: a payment that they spent was reversed,
 * and without a suspension their servers would run on to the end of their cycles. They resume when the
 * balance is zero or more (suspended.ts). Their paid time is not charged again.
 *
 * The transfer that makes a balance negative sets the first check (store/ledger/ledger.ts), and each check
 * sets the next one, so it may run twice, late, or in another process.
 */

import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import { tryLockCalendar } from '../../store/billing/calendar.ts';
import {
  findNegativeSince,
  listNegativeChecks,
  lockNegativeSince,
  lockUnsuspendedServers,
  setNegativeCheck,
} from '../../store/billing/negative.ts';
import { isUnavailable } from '../../store/connections/errors.ts';
import { hasOperation } from '../../store/servers/operations.ts';
import type { CustomerActor, Service } from '../context.ts';
import { suspendServer } from '../servers/billing/suspend.ts';
import { hasUnreadPayment, recordSystemAudit } from './end-cycle.ts';
import { sumConcurrent } from './sum-concurrent.ts';

/** Until the next check, while a server is being installed or changed, or a chain is unread. */
const BUSY_WAIT_MS = 15 * MINUTE_MS;
const CHECK_EVERY_MS = DAY_MS;
const FAULT_WAIT_MS = HOUR_MS;

function suspensionTime({ settings }: Pick<Service, 'settings'>, negativeSince: Date): Date {
  return new Date(negativeSince.getTime() + settings.negativeBalanceDays * DAY_MS);
}

/** Returns when the customer's servers are suspended for a negative balance; null if it is not negative. */
export async function findSuspensionTime(
  sql: Sql,
  service: Pick<Service, 'settings'>,
  { customerId }: Pick<CustomerActor, 'customerId'>,
): Promise<Date | null> {
  const since = await findNegativeSince(sql, customerId);
  return since && suspensionTime(service, since);
}

/** Processes a batch of negative balances and returns its size. */
export async function processNegativeBalances(service: Service): Promise<number> {
  const customerIds = await listNegativeChecks(service.db, service.clock.now());
  return await sumConcurrent(customerIds, (customerId) => processCustomer(service, customerId));
}

async function processCustomer(service: Service, customerId: string): Promise<number> {
  try {
    await service.db.transaction((tx) => checkBalance(tx, service, customerId));
  } catch (error) {
    if (isUnavailable(error)) throw error;
    service.log.error({ err: error }, 'suspending for a negative balance failed; postponed');
    await setNegativeCheck(service.db, customerId, new Date(service.clock.now().getTime() + FAULT_WAIT_MS));
  }
  return 1;
}

async function checkBalance(tx: Sql, service: Service, customerId: string): Promise<void> {
  if (!(await tryLockCalendar(tx, customerId))) return;
  const now = service.clock.now();
  const servers = await lockUnsuspendedServers(tx, customerId);
  const since = await lockNegativeSince(tx, customerId);
  if (since === null) return;
  const dueAt = suspensionTime(service, since);
  if (now < dueAt) return await setNegativeCheck(tx, customerId, dueAt);
  let busy = await hasUnreadPayment(tx, service, { customerId, since: dueAt }, now);
  for (const server of busy ? [] : servers) {
    const settled = server.status === 'running' || server.status === 'stopped';
    if (!settled || (await hasOperation(tx, server.id))) {
      busy = true;
      continue;
    }
    await suspendServer(tx, service, server, 'negative_balance', now);
    await recordSystemAudit(tx, server, 'server.suspend', now);
  }
  const nextMs = now.getTime() + (busy ? BUSY_WAIT_MS : CHECK_EVERY_MS);
  await setNegativeCheck(tx, customerId, new Date(nextMs));
}
