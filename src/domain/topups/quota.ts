/**
 * Whether a customer may have another invoice. Each takes an address for ever, so those that are made and never paid have a
 * limit of their own, however soon they are cancelled.
 */
import { fail, quotaExceeded } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { CoinCode } from '../../spec/coins.ts';
import type { CustomerRow } from '../../store/customers.ts';
import { countOpenTopups, countUnpaidTopups } from '../../store/topups.ts';
import type { Service } from '../context.ts';
import { isPoolCoin, POOL_COINS } from './address-pool.ts';

type Deps = Pick<Service, 'clock' | 'settings'>;

/** Refuses with `account_frozen` or `limit_reached`. */
export async function requireTopupQuota(
  { clock, settings }: Deps,
  sql: Sql,
  { customer, coin }: { readonly customer: CustomerRow | undefined; readonly coin: CoinCode },
): Promise<void> {
  if (!customer) throw new Error('no such customer');
  if (customer.frozen_at) fail('account_frozen');
  const { openTopups, unpaidTopupsPerDay, unpaidPoolTopupsPerDay } = settings.quotas;
  if ((await countOpenTopups(sql, customer.id)) >= openTopups) quotaExceeded('openTopups', openTopups);
  // Simulated addresses cost nobody anything, and no wallet has to find them.
  if (settings.mode === 'sandbox') return;
  const since = new Date(clock.now().getTime() - DAY_MS);
  const unpaid = await countUnpaidTopups(sql, customer.id, { since, coins: POOL_COINS });
  if (unpaid.all >= unpaidTopupsPerDay) quotaExceeded('unpaidTopupsPerDay', unpaidTopupsPerDay);
  if (isPoolCoin(coin) && unpaid.ofCoins >= unpaidPoolTopupsPerDay) {
    quotaExceeded('unpaidPoolTopupsPerDay', unpaidPoolTopupsPerDay);
  }
}

/** Invoices that this process is making, by customer. */
const inProgress = new Map<string, number>();

/**
 * Runs while no more are being made for this customer than he may have open: each holds an address meanwhile. Where processes are
 * many each counts its own; under the customer's lock all count.
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
