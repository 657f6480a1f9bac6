/** Creates an invoice: within the quota, with its own address and the current rate. */

import { Failure, fail, quotaExceeded, requireQuota } from '../../kernel/fail.ts';
import { formatId, newId, newPublicNumber, newSecretToken } from '../../kernel/ids.ts';
import { coinUnitsDue } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import type { Deposit } from '../../ports/chain.ts';
import { RateUnavailable } from '../../ports/rates.ts';
import { type CoinCode, getCoin as coinOf, confirmationsNeeded } from '../../spec/coins.ts';
import { COIN_UNAVAILABLE_MESSAGE, NO_RATE_MESSAGES } from '../../spec/error-messages.ts';
import type { CreateTopup, Topup } from '../../spec/schemas/topup.ts';
import { type CustomerRow, findCustomer, lockCustomer } from '../../store/customers/customers.ts';
import { countOpenTopups, countUnpaidTopups, insertTopup, type TopupRow } from '../../store/topups/topups.ts';
import type { CustomerActor, Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { recordAudit } from '../record.ts';
import { type AllocatedAddress, allocateAddress } from './addresses/allocate.ts';
import { isPoolCoin, POOL_COINS } from './addresses/pool.ts';
import { bonusCents, parseTopupAmount } from './offer.ts';
import { topupObject } from './read.ts';

export interface TopupOrder {
  readonly coin: CoinCode;
  /** From `parseTopupAmount`. */
  readonly amountCents: bigint;
}

/**
 * Creates an invoice for the REST API. Fails like `createTopup`, and with `bad_amount` for fractions of a
 * cent. A number is read as printed, so that 30.10 is exactly 30.10.
 */
export async function orderTopup(service: Service, actor: CustomerActor, order: CreateTopup): Promise<Topup> {
  const amountCents = parseTopupAmount(String(order.amount_usd));
  const { saveResponse } = actor;
  const saveRow =
    saveResponse && ((tx: Sql, row: object) => saveResponse(tx, topupObject(row as TopupRow, [])));
  const caller = { ...actor, saveResponse: saveRow };
  const row = await createTopup(service, caller, { coin: order.coin, amountCents });
  return topupObject(row, []);
}

/**
 * Creates an invoice with its own address and the current rate. Fails with `account_frozen`, `limit_reached`
 * {limit}, or `unavailable`.
 */
export async function createTopup(
  service: Service,
  actor: CustomerActor,
  order: TopupOrder,
): Promise<TopupRow> {
  const { openTopups } = await readQuotas(service, service.db, actor.customerId);
  return await withTopupSlot(openTopups, actor.customerId, async () => {
    const { coin } = order;
    // Checked first, so that a rejected order uses no address, and again under the lock.
    const customer = await findCustomer(service.db, actor.customerId);
    await requireTopupQuota(service, service.db, { customer, coin });
    const priced = await priceOrder(service, order);
    const { deposit, release } = await allocateDeposit(service, priced);
    try {
      return await writeTopup(service, actor, { priced, deposit });
    } catch (error) {
      // A Failure rolled everything back. After any other error, the invoice may exist.
      if (error instanceof Failure) await release();
      throw error;
    }
  });
}

type PricedOrder = TopupOrder & Pick<TopupRow, 'id' | 'rate_usd' | 'quotes' | 'deposit_units'>;

async function writeTopup(
  service: Service,
  actor: CustomerActor,
  { priced, deposit }: { readonly priced: PricedOrder; readonly deposit: Deposit },
): Promise<TopupRow> {
  const { customerId } = actor;
  const { coin } = priced;
  return await service.db.transaction(async (tx) => {
    // Under the customer's lock, concurrent invoices count each other.
    await requireTopupQuota(service, tx, { customer: await lockCustomer(tx, customerId), coin });
    const now = service.clock.now();
    const expiresAt = new Date(now.getTime() + service.settings.rateLockMinutes * MINUTE_MS);
    const row = await insertWithUniqueNumber(tx, newTopup(priced, deposit, customerId, now, expiresAt));
    await recordAudit(tx, { actor, action: 'topup.create', resource: formatId('topup', row.id) }, now);
    await actor.saveResponse?.(tx, row);
    return row;
  });
}

async function priceOrder(service: Service, order: TopupOrder): Promise<PricedOrder> {
  const { coin, amountCents } = order;
  try {
    const { usd, quotes } = await service.rates.usdPerCoin(coin);
    const units = coinUnitsDue(amountCents, usd, coinOf(coin).decimals);
    return { ...order, id: newId(service.clock.now()), rate_usd: usd, quotes, deposit_units: units };
  } catch (error) {
    return failUnavailable(service, coin, 'no rate available for a top-up', error);
  }
}

async function allocateDeposit(service: Service, priced: PricedOrder): Promise<AllocatedAddress> {
  const { coin, id, deposit_units: amountUnits } = priced;
  const driver = service.chains.get(coin);
  if (!driver) fail('unavailable', { field: 'coin' });
  return await allocateAddress(service, driver, { id, coin, amountUnits }).catch((error: unknown) =>
    failUnavailable(service, coin, 'no address available for a top-up', error),
  );
}

/** Logs the cause for the operator. The customer can only retry or choose another coin. */
function failUnavailable(service: Service, coin: CoinCode, line: string, error: unknown): never {
  service.log.warn({ err: error, coin }, line);
  const message =
    error instanceof RateUnavailable ? NO_RATE_MESSAGES[error.reason](coin) : COIN_UNAVAILABLE_MESSAGE;
  fail('unavailable', { field: 'coin' }, message);
}

function newTopup(
  priced: PricedOrder,
  deposit: Deposit,
  customerId: string,
  createdAt: Date,
  expiresAt: Date,
): TopupRow {
  const { amountCents, ...stored } = priced;
  return {
    ...stored,
    public_no: newPublicNumber(),
    order_ref: `ord_${newSecretToken()}`,
    customer_id: customerId,
    amount_cents: amountCents,
    bonus_cents: bonusCents(amountCents),
    deposit_address: deposit.address,
    deposit_uri: deposit.uri,
    required_confirmations: confirmationsNeeded(priced.coin, amountCents),
    status: 'pending',
    cancelled_at: null,
    credit_held: false,
    confirmations: 0,
    credited_cents: 0n,
    bonus_paid_cents: 0n,
    bonus_transfers: [],
    reversed_cents: 0n,
    reversed_at: null,
    expires_at: expiresAt,
    created_at: createdAt,
  };
}

/** Draws another public number if the random one is taken. */
async function insertWithUniqueNumber(tx: Sql, row: TopupRow): Promise<TopupRow> {
  let fresh = row;
  while (!(await insertTopup(tx, fresh))) fresh = { ...row, public_no: newPublicNumber() };
  return fresh;
}

type Deps = Pick<Service, 'clock' | 'settings'>;

/**
 * Fails with `account_frozen` or `limit_reached`. Each invoice uses an address permanently, so unpaid ones
 * have a separate daily limit, even if they are canceled.
 */
export async function requireTopupQuota(
  service: Deps,
  sql: Sql,
  { customer, coin }: { readonly customer: CustomerRow | undefined; readonly coin: CoinCode },
): Promise<void> {
  if (!customer) throw new Error('customer not found');
  if (customer.frozen_at) fail('account_frozen');
  const quotas = await readQuotas(service, sql, customer.id);
  const { openTopups, unpaidTopupsPerDay, unpaidPoolTopupsPerDay } = quotas;
  requireQuota('openTopups', openTopups, await countOpenTopups(sql, customer.id));
  // Simulated addresses are free, and no wallet has to scan them.
  if (service.settings.mode === 'sandbox') return;
  const since = new Date(service.clock.now().getTime() - DAY_MS);
  const unpaid = await countUnpaidTopups(sql, customer.id, { since, coins: POOL_COINS });
  requireQuota('unpaidTopupsPerDay', unpaidTopupsPerDay, unpaid.all);
  if (isPoolCoin(coin)) requireQuota('unpaidPoolTopupsPerDay', unpaidPoolTopupsPerDay, unpaid.ofCoins);
}

/** Invoices being created by this process, per customer. */
const inProgress = new Map<string, number>();

/**
 * Runs `create` unless this process is already creating the customer's maximum of open invoices, because
 * each holds an address meanwhile. Per process; the check under the customer's lock covers all processes.
 */
export async function withTopupSlot<T>(
  openTopups: number,
  customerId: string,
  create: () => Promise<T>,
): Promise<T> {
  const others = inProgress.get(customerId) ?? 0;
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
