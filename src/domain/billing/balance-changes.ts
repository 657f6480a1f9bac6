/**
 * Follows up on balances that changed. Servers that wait for a payment resume in order, each as soon as the
 * balance covers it. After a debit, the customer is warned about renewals that the balance no longer
 * covers.
 */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  claimChangedBalances,
  hasDueCycle,
  lockAffectedServers,
  lockChangedBalance,
  markBalanceChecked,
  tryLockCalendar,
} from '../../store/billing/calendar.ts';
import { isUnavailable } from '../../store/connections/errors.ts';
import type { Service } from '../context.ts';
import { notifyIfLow } from './low-balance.ts';
import { sumConcurrent } from './sum-concurrent.ts';
import { resumeIfPaid } from './suspended.ts';

/** Processes a batch of changed balances and returns the amount of work found. */
export async function processBalanceChanges(service: Service): Promise<number> {
  const now = service.clock.now();
  const { count, customerIds } = await service.db.transaction((tx) => claimChangedBalances(tx, now));
  const did = await sumConcurrent(customerIds, (customerId) => processCustomerBalance(service, customerId));
  return count - customerIds.length + did;
}

/** Processes one customer. A server that fails is logged and skipped until the next balance change. */
async function processCustomerBalance(service: Service, customerId: string): Promise<number> {
  const failed = new Set<string>();
  for (;;) {
    const at: { server: string | null } = { server: null };
    try {
      return await service.db.transaction((tx) =>
        applyBalanceChange(tx, service, { customerId, failed, at }),
      );
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const shown = at.server && formatId('server', at.server);
      service.log.error({ err: error, server: shown }, 'processing a balance change failed');
      if (at.server === null || failed.has(at.server)) {
        // A retry would fail again. The next balance change or due date retries.
        await markBalanceChecked(service.db, customerId);
        return 1;
      }
      failed.add(at.server);
    }
  }
}

async function applyBalanceChange(
  tx: Sql,
  service: Service,
  request: { customerId: string; failed: ReadonlySet<string>; at: { server: string | null } },
): Promise<number> {
  const { customerId, failed, at } = request;
  if (!(await tryLockCalendar(tx, customerId))) return 1;
  const now = service.clock.now();
  // Renewing a running server takes precedence over resuming a suspended one.
  if (await hasDueCycle(tx, customerId, now)) return 0;
  const { waiting, renewing } = await lockAffectedServers(tx, customerId, now);
  const balance = await lockChangedBalance(tx, customerId);
  let resumed = false;
  for (const server of waiting) {
    if (failed.has(server.id)) continue;
    at.server = server.id;
    if ((await resumeIfPaid(tx, service, server, now)) === 'resumed') resumed = true;
  }
  at.server = null;
  if (resumed || balance?.debited) await notifyIfLow(tx, service, customerId, renewing, now);
  await markBalanceChecked(tx, customerId);
  return 1;
}
