import { crashPoint } from '../../kernel/crash.ts';
import type { Observation } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { holdsCoin } from '../../store/coins.ts';
import { type DepositRow, depositsOf, findDeposits, saveDeposit } from '../../store/deposits.ts';
import { lockTopup, matchTopups, type TopupRow } from '../../store/topups.ts';
import type { Service } from '../context.ts';
import { systemActor } from '../record.ts';
import { isOn } from '../switches/switch.ts';
import { isNews, needsQuote, observedDeposit } from './deposit.ts';
import { settle } from './settle.ts';

/** Another process reads this coin by now: what this one saw may be old. */
export class LeaseLost extends Error {}

interface News {
  readonly topup: TopupRow;
  readonly observations: Observation[];
  /** One of them is priced by the rate of now. */
  needsQuote: boolean;
}

/**
 * Takes in what a chain shows; returns how many invoices changed. What is known already costs two reads. Each
 * invoice is a transaction of its own: one that fails does not keep back the others, and the first failure is thrown
 * at the end. With `leaseId` nothing is written once the coin's lease is another's (throws LeaseLost).
 */
export async function applyObservations(
  service: Service,
  coin: CoinCode,
  observations: readonly Observation[],
  leaseId: string | null = null,
): Promise<number> {
  const failures: unknown[] = [];
  let changed = 0;
  for (const news of await findNews(service, coin, observations)) {
    try {
      changed += await applyNews(service, news, leaseId);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      failures.push(error);
    }
  }
  if (changed > 0) service.wake();
  if (failures.length > 0) throw failures[0];
  return changed;
}

/** What is new, by invoice. Known outputs are matched by key, new ones by address; the rest is not ours. */
async function findNews(
  service: Service,
  coin: CoinCode,
  observations: readonly Observation[],
): Promise<Iterable<News>> {
  const now = service.clock.now();
  const latest = new Map(observations.map((observation) => [observation.key, observation]));
  if (latest.size === 0) return [];
  const known = byKey(await findDeposits(service.db, coin, [...latest.keys()]));
  const fresh = [...latest.values()].filter((each) => isNews(known.get(each.key), each, now));
  if (fresh.length === 0) return [];
  const topups = await matchTopups(service.db, coin, {
    addresses: fresh.map((each) => each.address),
    ids: fresh.flatMap((each) => known.get(each.key)?.topup_id ?? []),
  });
  const byId = new Map(topups.map((topup) => [topup.id, topup]));
  const byAddress = new Map(topups.map((topup) => [topup.deposit_address, topup]));
  const news = new Map<string, News>();
  for (const observation of fresh) {
    const deposit = known.get(observation.key);
    const topup = deposit ? byId.get(deposit.topup_id) : byAddress.get(observation.address);
    if (!topup) continue;
    const mine = news.get(topup.id) ?? { topup, observations: [], needsQuote: false };
    mine.observations.push(observation);
    mine.needsQuote ||= needsQuote(topup, deposit, observation, now);
    news.set(topup.id, mine);
  }
  return news.values();
}

async function applyNews(service: Service, news: News, leaseId: string | null): Promise<number> {
  const { coin, id } = news.topup;
  const quote = news.needsQuote ? await service.rates.usdPerCoin(coin) : null;
  const changed = await service.db.transaction(async (tx) => {
    if (leaseId !== null && !(await holdsCoin(tx, coin, leaseId))) throw new LeaseLost();
    const topup = await lockTopup(tx, id);
    if (!topup) return false;
    const now = service.clock.now();
    const before = await depositsOf(tx, id);
    const after = byKey(before);
    for (const observation of news.observations) {
      const known = after.get(observation.key);
      if (!isNews(known, observation, now)) continue;
      const deposit = observedDeposit(known, observation, { topup, now, quote });
      after.set(deposit.key, deposit);
      await saveDeposit(tx, deposit);
    }
    const deposits = [...after.values()];
    if (deposits.every((deposit, i) => deposit === before[i])) return false;
    crashPoint('credit.observation_written');
    const mayCredit = await isOn(tx, 'topup-credit');
    await settle(tx, {
      topup,
      deposits,
      before,
      mayCredit,
      actor: systemActor(now),
      now,
      keys: service.keys,
    });
    return true;
  });
  crashPoint('credit.committed');
  return changed ? 1 : 0;
}

function byKey(deposits: readonly DepositRow[]): Map<string, DepositRow> {
  return new Map(deposits.map((deposit) => [deposit.key, deposit]));
}
