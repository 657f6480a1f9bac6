/** Applies a chain's observations per invoice, so that a failing invoice does not block the others. */

import { LeaseLost } from '../../../kernel/fail.ts';
import type { Observation } from '../../../ports/chain.ts';
import type { Rate } from '../../../ports/rates.ts';
import { type CoinCode, maxConfirmations } from '../../../spec/coins.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { isUnavailable } from '../../../store/connections/errors.ts';
import {
  type DepositRow,
  findDeposits,
  findUnpricedTopups,
  saveDeposits,
} from '../../../store/topups/deposits.ts';
import { matchTopups, type TopupRow } from '../../../store/topups/topups.ts';
import type { Service } from '../../context.ts';
import { changeDeposits, lockLeasedTopup, type ReadLease } from './change-deposits.ts';
import { hasNewInformation, mergeObservation, needsQuote, pendingDeposit, withRate } from './deposit.ts';
import { isUnpriced } from './pricing.ts';
import { isPresent } from './status.ts';

/** The result of applying observations. */
export interface ApplyResult {
  /** Number of changed invoices. */
  readonly changed: number;
  /** Errors of invoices that failed to settle. */
  readonly failures: readonly unknown[];
  /** Whether all payments will be queried again even if the cursor advances. */
  readonly allTracked: boolean;
}

interface TopupUpdate {
  readonly topup: TopupRow;
  readonly observations: Observation[];
  /** Whether an observation needs the current rate. */
  needsQuote: boolean;
}

/**
 * Applies observations, each invoice in its own transaction. Known observations cost two reads. Throws
 * LeaseLost if the coin's lease is no longer ours; nothing is written then.
 */
export async function applyObservations(
  service: Service,
  coin: CoinCode,
  observations: readonly Observation[],
  reading: ReadLease | null = null,
): Promise<ApplyResult> {
  const updates = await findUpdates(service, coin, observations, reading);
  return await applyEach(service, updates, {
    name: ({ topup }) => topup.id,
    change: (one) => applyUpdate(service, one, reading),
    keep: (one) => keepTracked(service, one, reading),
  });
}

/** Invoices priced per call: those that wait longest. */
const PRICING_BATCH = 100;

/** Prices late payments that found no rate earlier, without asking the chain. */
export async function priceLatePayments(
  service: Service,
  coin: CoinCode,
  reading: ReadLease | null = null,
): Promise<ApplyResult> {
  const graceHours = LIMITS.rateLockGraceHours;
  const ids = await findUnpricedTopups(service.db, coin, { graceHours, limit: PRICING_BATCH });
  const quote = ids.length === 0 ? null : await currentRate(service, coin);
  if (quote === null) return { changed: 0, failures: [], allTracked: true };
  return await applyEach(service, ids, {
    name: (id) => id,
    change: (id) =>
      changeDeposits(service, { coin, id }, reading, (topup, before) =>
        before.map((deposit) => (isUnpriced(topup, deposit) ? withRate(deposit, quote) : deposit)),
      ),
    // They just remain without a rate.
    keep: async () => true,
  });
}

async function applyEach<T>(
  service: Service,
  items: Iterable<T>,
  todo: { name(item: T): string; change(item: T): Promise<boolean>; keep(item: T): Promise<boolean> },
): Promise<ApplyResult> {
  const failures: unknown[] = [];
  let changed = 0;
  let allTracked = true;
  for (const item of items) {
    try {
      if (await todo.change(item)) changed += 1;
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      failures.push(error);
      // Without a database, none of them can be settled or tracked now.
      if (isUnavailable(error)) {
        allTracked = false;
        break;
      }
      service.log.error({ err: error, topup: todo.name(item) }, 'settling the top-up failed');
      allTracked = (await todo.keep(item)) && allTracked;
    }
  }
  if (changed > 0) service.wake();
  return { changed, failures, allTracked };
}

/** Returns the changes by invoice. Known outputs match by key, new ones by address; the rest is not ours. */
async function findUpdates(
  service: Service,
  coin: CoinCode,
  observations: readonly Observation[],
  reading: ReadLease | null,
): Promise<Iterable<TopupUpdate>> {
  const foundAt = reading?.readAt ?? service.clock.now();
  const latest = new Map(observations.map((each) => [each.key, demoteShallowFinal(coin, each)]));
  if (latest.size === 0) return [];
  const known = indexByKey(await findDeposits(service.db, coin, [...latest.keys()]));
  const fresh = [...latest.values()].filter((each) => hasNewInformation(known.get(each.key), each, foundAt));
  if (fresh.length === 0) return [];
  const topups = await matchTopups(service.db, coin, {
    addresses: [...new Set(fresh.map((each) => each.address))],
    ids: [...new Set(fresh.flatMap((each) => known.get(each.key)?.topup_id ?? []))],
  });
  const byId = new Map(topups.map((topup) => [topup.id, topup]));
  const byAddress = new Map(topups.map((topup) => [topup.deposit_address, topup]));
  const updates = new Map<string, TopupUpdate>();
  for (const observation of fresh) {
    const deposit = known.get(observation.key);
    const topup = deposit ? byId.get(deposit.topup_id) : byAddress.get(observation.address);
    if (!topup) continue;
    const update = updates.get(topup.id) ?? { topup, observations: [], needsQuote: false };
    update.observations.push(observation);
    update.needsQuote ||= needsQuote(topup, deposit, observation, foundAt);
    updates.set(topup.id, update);
  }
  return updates.values();
}

/**
 * A final payment is never queried again. So it counts as final only if its confirmations are enough for
 * any amount, or it will never have any, and only if a second node, when there is one, agrees.
 */
function demoteShallowFinal(coin: CoinCode, observation: Observation): Observation {
  const { agreed, confirmations } = observation;
  const isDeep = agreed && (confirmations >= maxConfirmations(coin) || confirmations === 0);
  return observation.state === 'final' && !isDeep ? { ...observation, state: 'included' } : observation;
}

async function applyUpdate(
  service: Service,
  update: TopupUpdate,
  reading: ReadLease | null,
): Promise<boolean> {
  const quote = update.needsQuote ? await currentRate(service, update.topup.coin) : null;
  return await changeDeposits(service, update.topup, reading, (topup, before, now) => {
    const foundAt = reading?.readAt ?? now;
    const after = indexByKey(before);
    for (const observation of update.observations) {
      const known = after.get(observation.key);
      if (!hasNewInformation(known, observation, foundAt)) continue;
      after.set(observation.key, mergeObservation(known, observation, { topup, now, foundAt, quote }));
    }
    // Oldest first, as they will be read. Payments seen together are in key order.
    const deposits = [...after.values()];
    const fresh = deposits.slice(before.length).sort((a, b) => (a.key < b.key ? -1 : 1));
    return [...deposits.slice(0, before.length), ...fresh];
  });
}

/** Returns null without a current rate: payments wait for one, and `status` reports it. */
async function currentRate(service: Service, coin: CoinCode): Promise<Rate | null> {
  return await service.rates.usdPerCoin(coin).catch(() => null);
}

/**
 * Keeps track of an invoice that failed to settle, so that it does not block its chain. Unfinished rows are
 * queried again anyway; missing ones are stored as pending. Returns false if that is not enough.
 */
async function keepTracked(
  service: Service,
  update: TopupUpdate,
  reading: ReadLease | null,
): Promise<boolean> {
  const { coin } = update.topup;
  try {
    return await service.db.transaction(async (tx) => {
      const topup = await lockLeasedTopup(tx, update.topup, reading);
      if (!topup) return false;
      const now = service.clock.now();
      const keys = update.observations.map((observation) => observation.key);
      const known = indexByKey(await findDeposits(tx, coin, keys));
      const lost = update.observations.filter(({ key }) => !isUnfinished(known.get(key)));
      const stored = lost.filter((each) => isPresent(each) && known.get(each.key)?.state !== 'final');
      await saveDeposits(
        tx,
        stored.map((each) => pendingDeposit(known.get(each.key), each, { topup, now })),
      );
      return stored.length === lost.length;
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    // If it cannot be stored, the chain is read again from here.
    return false;
  }
}

function isUnfinished(deposit: DepositRow | undefined): boolean {
  return deposit?.state === 'mempool' || deposit?.state === 'included';
}

function indexByKey(deposits: readonly DepositRow[]): Map<string, DepositRow> {
  return new Map(deposits.map((deposit) => [deposit.key, deposit]));
}
