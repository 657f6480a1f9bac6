/** Compares a customer's ledger with their payments on the chains and the prices of their orders. */
import { bonusFor, cyclePrice, DAY_MS } from '../../lifecycle/rules.ts';
import type { JsonBody } from '../../support/v1-client.ts';
import type { ModelCustomer, ModelServer, ModelTopup } from '../model/model.ts';
import type { Deposit } from '../world/chains.ts';
import type { Problem, ProblemKind } from './problem.ts';
import type { CustomerView } from './view.ts';

const MONTH_MS = 30.44 * DAY_MS;
/** February. */
const SHORTEST_MONTH_MS = 28 * DAY_MS;
/** The clock of a process jumps by up to an hour. */
const CLOCK_SLACK_MS = 61 * 60_000;

const toCents = (usd: number): bigint => BigInt(Math.round(usd * 100));
export const sum = (entries: readonly JsonBody[]): bigint =>
  entries.reduce((total, { amount_usd: usd }) => total + toCents(usd), 0n);

export function compareMoney(
  customer: ModelCustomer,
  view: CustomerView,
  deposits: readonly Deposit[],
): Problem[] {
  const byResource = Map.groupBy(view.ledger, ({ resource }) => String(resource));
  const known = new Set<string>();
  const problems: Problem[] = [];
  for (const topup of customer.topups) {
    const seen = view.topups.find(({ deposit_address: address }) => address === topup.address);
    if (!seen) {
      problems.push({ kind: 'lost', text: `the top-up to ${topup.coin} of ${topup.cents} cents is missing` });
      continue;
    }
    known.add(seen.id);
    problems.push(...compareTopup(topup, seen.id, byResource.get(seen.id) ?? [], deposits));
  }
  for (const server of customer.servers) {
    if (server.id === null) continue;
    known.add(server.id);
    const seen = view.servers.find(({ id }) => id === server.id);
    problems.push(...compareCharges(server, seen, byResource.get(server.id) ?? []));
  }
  for (const { id } of view.topups)
    if (!known.has(id)) problems.push({ kind: 'doubled', text: `top-up ${id} was never acknowledged` });
  for (const [resource, entries] of byResource)
    if (!known.has(resource) && sum(entries) !== 0n)
      problems.push(differs(sum(entries), 0n, `entries of ${resource}, which was never acknowledged`));
  const [total, balance] = [sum(view.ledger), toCents(view.balanceUsd)];
  if (total !== balance) problems.push(differs(balance, total, `the balance of customer ${customer.index}`));
  return problems;
}

/** A payment in a block is credited once, with its bonus. */
function compareTopup(
  topup: ModelTopup,
  id: string,
  entries: readonly JsonBody[],
  deposits: readonly Deposit[],
): Problem[] {
  const own = deposits.filter(({ coin, address, state }) => {
    return coin === topup.coin && address === topup.address && state === 'included';
  });
  const worth = topup.cents * BigInt(own.length);
  const wanted = worth + bonusFor(worth);
  const credited = sum(entries);
  return credited === wanted ? [] : [differs(credited, wanted, `the credit of top-up ${id}`)];
}

/**
 * Each cycle until the end of the paid time is charged once, and not before it begins. A deleted server was
 * charged at least once.
 */
function compareCharges(
  server: ModelServer,
  seen: JsonBody | undefined,
  entries: readonly JsonBody[],
): Problem[] {
  const price = cyclePrice(server.plan, server.months);
  const charges = entries.filter(({ type }) => type === 'charge');
  const charged = -sum(charges);
  const refunded = sum(entries.filter(({ type }) => type === 'refund'));
  const subject = `the charges of server ${server.id}`;
  const early = findEarlyCharge(charges, server.months);
  if (early !== null) return [{ kind: 'doubled', text: `${subject}: one at ${early} came too early` }];
  if (seen) {
    const paidMs = Date.parse(seen.paid_until) - Date.parse(seen.created_at);
    const cycles = BigInt(Math.round(paidMs / (server.months * MONTH_MS)));
    return charged === price * cycles ? [] : [differs(charged, price * cycles, subject)];
  }
  if (charged < price || charged % price !== 0n) return [differs(charged, price, subject)];
  return refunded > charged ? [differs(refunded, charged, `the refund of server ${server.id}`)] : [];
}

/** Returns the time of a charge before its cycle began. Others may be late, but their cycles are not. */
function findEarlyCharge(charges: readonly JsonBody[], months: number): string | null {
  const times = charges.map(({ created_at: at }) => Date.parse(at)).sort((a, b) => a - b);
  const cycleMs = months * SHORTEST_MONTH_MS - CLOCK_SLACK_MS;
  const early = times.find((ms, cycle) => ms < (times[0] ?? 0) + cycle * cycleMs);
  return early === undefined ? null : new Date(early).toISOString();
}

function differs(actual: bigint, wanted: bigint, subject: string): Problem {
  const kind: ProblemKind = actual > wanted ? 'doubled' : 'lost';
  return { kind, text: `${subject}: ${actual} cents, not ${wanted}` };
}
