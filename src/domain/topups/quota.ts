/**
 * Limits a customer's invoices. Each invoice uses an address permanently, so unpaid ones have a separate
 * daily limit, even if they are canceled.
 */
import { fail, quotaExceeded } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { CoinCode } from '../../spec/coins.ts';
import type { CustomerRow } from '../../store/customers/customers.ts';
import { countOpenTopups, countUnpaidTopups } from '../../store/topups/topups.ts';
import type { Service } from '../context.ts';
import { isPoolCoin, POOL_COINS } from './address-pool.ts';

type Deps = Pick<Service, 'clock' | 'settings'>;

/** Fails with `account_frozen` or `limit_reached`. */
export async function requireTopupQuota(
  { clock, settings }: Deps,
  sql: Sql,
  { customer, coin }: { readonly customer: CustomerRow | undefined; readonly coin: CoinCode },
): Promise<void> {
  if (!customer) throw new Error('customer not found');
  if (customer.frozen_at) fail('account_frozen');
  const { openTopups, unpaidTopupsPerDay, unpaidPoolTopupsPerDay } = settings.quotas;
  if ((await countOpenTopups(sql, customer.id)) >= openTopups) quotaExceeded('openTopups', openTopups);
  // Simulated addresses are free, and no wallet has to scan them.
  if (settings.mode === 'sandbox') return;
  const since = new Date(clock.now().getTime() - DAY_MS);
  const unpaid = await countUnpaidTopups(sql, customer.id, { since, coins: POOL_COINS });
  if (unpaid.all >= unpaidTopupsPerDay) quotaExceeded('unpaidTopupsPerDay', unpaidTopupsPerDay);
  if (isPoolCoin(coin) && unpaid.ofCoins >= unpaidPoolTopupsPerDay) {
    quotaExceeded('unpaidPoolTopupsPerDay', unpaidPoolTopupsPerDay);
  }
}

/** Invoices being created by this process, per customer. */
const inProgress = new Map<string, number>();

/**
 * Runs `create` unless this process is already creating the customer's maximum of open invoices, because
 * each holds an address meanwhile. Per process; the check under the customer's lock covers all processes.
 */
export async function withTopupSlot<T>(
  { settings }: Deps,
  customerId: string,
  create: () => Promise<T>,
): Promise<T> {
  const others = inProgress.get(customerId) ?? 0;
  const { openTopups } = settings.quotas;
  if (others >= openTopups) quotaExceeded('openTopups', openTopups);
  inProgress.set(customerId, others + 1);
  try {
    return await create();
  } finally {
    const left = (inProgress.get(customerId) ?? 1) - 1;
    if (left === 0) inProgress.delete(customerId);
    else inProgress.set(customerId, left);
  }
}
