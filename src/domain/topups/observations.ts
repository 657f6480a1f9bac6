/** Takes in what a chain shows, invoice by invoice: one that fails keeps back no other. */

import type { Observation } from '../../ports/chain.ts';
import type { Rate } from '../../ports/rates.ts';
import { type CoinCode, maxConfirmations } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import { isUnavailable } from '../../store/db.ts';
import { type DepositRow, findDeposits, findUnpricedTopups, saveDeposits } from '../../store/deposits.ts';
import { matchTopups, type TopupRow } from '../../store/topups.ts';
import type { Service } from '../context.ts';
import { changeDeposits, LeaseLost, lockLeasedTopup, type ReadLease } from './change-deposits.ts';
import { hasNewInformation, mergeObservation, needsQuote, pendingDeposit, withRate } from './deposit.ts';
import { isUnpriced } from './pricing.ts';
import { isPresent } from './status.ts';

/** What became of it. */
export interface ApplyResult {
  /** How many invoices changed. */
  readonly changed: number;
  /** Why some could not be settled. */
  readonly failures: readonly unknown[];
  /** Whether all of their payments are asked for again, though the chain is read on from here. */
  readonly allTracked: boolean;
}

interface TopupUpdate {
  readonly topup: TopupRow;
  readonly observations: Observation[];
  /** One of them is priced by the rate of now. */
  needsQuote: boolean;
}

/**
 * What is known already costs two reads. Each invoice is a transaction of its own. Nothing is written once the coin's lease is
 * another's than the reading's (throws LeaseLost).
 */
export async function applyObservations(
  service: Service,
  coin: CoinCode,
  observations: readonly Observation[],
  reading: ReadLease | null = null,
): Promise<ApplyResult> {
  const news = await findUpdates(service, coin, observations, reading);
  return await applyEach(service, news, {
    name: ({ topup }) => topup.id,
    change: (one) => applyUpdate(service, one, reading),
    keep: (one) => keepTracked(service, one, reading),
  });
}

/** Invoices that are priced in one look: those that wait longest. */
const PRICING_BATCH = 100;

/** Gives late payments that found no rate the one of now, once there is one. The chain need not be asked for it. */
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
    // They still have no rate.
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
      // Without a database none of them can be settled now, nor noted.
      if (isUnavailable(error)) {
        allTracked = false;
        break;
      }
      service.log.error({ err: error, topup: todo.name(item) }, 'a top-up could not be settled');
      allTracked = (await todo.keep(item)) && allTracked;
    }
  }
  if (changed > 0) service.wake();
  return { changed, failures, allTracked };
}

/** What is new, by invoice. Known outputs are matched by key, new ones by address; the rest is not ours. */
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
  const news = new Map<string, TopupUpdate>();
  for (const observation of fresh) {
    const deposit = known.get(observation.key);
    const topup = deposit ? byId.get(deposit.topup_id) : byAddress.get(observation.address);
    if (!topup) continue;
    const update = news.get(topup.id) ?? { topup, observations: [], needsQuote: false };
    update.observations.push(observation);
    update.needsQuote ||= needsQuote(topup, deposit, observation, foundAt);
    news.set(topup.id, update);
  }
  return news.values();
}

/**
 * What is final is never asked for again, and its confirmations are never looked at again: so it is taken for final only once they
 * are enough for any amount, or there are none and never will be, and only where a second node, if there is one, has it too.
 */
function demoteShallowFinal(coin: CoinCode, observation: Observation): Observation {
  const { agreed, confirmations } = observation;
  const isDeep = agreed && (confirmations >= maxConfirmations(coin) || confirmations === 0);
  return observation.state === 'final' && !isDeep ? { ...observation, state: 'included' } : observation;
}

async function applyUpdate(service: Service, news: TopupUpdate, reading: ReadLease | null): Promise<boolean> {
  const quote = news.needsQuote ? await currentRate(service, news.topup.coin) : null;
  return await changeDeposits(service, news.topup, reading, (topup, before, now) => {
    const foundAt = reading?.readAt ?? now;
    const after = indexByKey(before);
    for (const observation of news.observations) {
      const known = after.get(observation.key);
      if (!hasNewInformation(known, observation, foundAt)) continue;
      after.set(observation.key, mergeObservation(known, observation, { topup, now, foundAt, quote }));
    }
    // Oldest first, as they will be read: what is seen at once is in the order of its keys.
    const deposits = [...after.values()];
    const fresh = deposits.slice(before.length).sort((a, b) => (a.key < b.key ? -1 : 1));
    return [...deposits.slice(0, before.length), ...fresh];
  });
}

/** Null: there is none now, and what needs one waits for it by itself; `status` tells the operator of it. */
async function currentRate(service: Service, coin: CoinCode): Promise<Rate | null> {
  return await service.rates.usdPerCoin(coin).catch(() => null);
}

/**
 * An invoice that could not be settled need not stop its chain: what is in the table as unfinished is asked for again anyway, and
 * what is not there is noted as if it still waited for its block. Returns false where that is not enough.
 */
async function keepTracked(service: Service, news: TopupUpdate, reading: ReadLease | null): Promise<boolean> {
  const { coin } = news.topup;
  try {
    return await service.db.transaction(async (tx) => {
      const topup = await lockLeasedTopup(tx, news.topup, reading);
      if (!topup) return false;
      const now = service.clock.now();
      const keys = news.observations.map((observation) => observation.key);
      const known = indexByKey(await findDeposits(tx, coin, keys));
      const lost = news.observations.filter(({ key }) => !isUnfinished(known.get(key)));
      const noted = lost.filter((each) => isPresent(each) && known.get(each.key)?.state !== 'final');
      await saveDeposits(
        tx,
        noted.map((each) => pendingDeposit(known.get(each.key), each, { topup, now })),
      );
      return noted.length === lost.length;
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    // Where it cannot even be noted, the chain is read again from here.
    return false;
  }
}

function isUnfinished(deposit: DepositRow | undefined): boolean {
  return deposit?.state === 'mempool' || deposit?.state === 'included';
}

function indexByKey(deposits: readonly DepositRow[]): Map<string, DepositRow> {
  return new Map(deposits.map((deposit) => [deposit.key, deposit]));
}
