/** The catalog as pages show it. */

import { listPlans, listRegions, listSellingRegions } from '../../../domain/catalogue/offers.ts';
import type { Service } from '../../../domain/context.ts';
import { findClosure } from '../../../domain/rules/rules.ts';
import { isSoldByHand } from '../../../domain/servers/hardware.ts';
import { centsToUsd, mulDiv, parseUnits } from '../../../kernel/money.ts';
import type { CyclePrice, OrderingClosed, SoldPlan } from '../../../panel/site/plans.ts';
import type { PageRequest } from '../../../spec/lists.ts';
import type { Plan, Region } from '../../../spec/schemas/plan.ts';
import type { Edge } from '../../settings.ts';

/** Far more than any catalog has. The API returns the rest. */
const ITEMS_MAX = 100;

const FIRST_PAGE: PageRequest = { filter: {}, sort: 'id', descending: false, after: null, size: ITEMS_MAX };

export interface Offers {
  readonly plans: readonly SoldPlan[];
  readonly regions: readonly Region[];
}

export async function readOffers(
  service: Service,
  filter: Readonly<Record<string, string>> = {},
): Promise<Offers> {
  const [plans, regions, soldByPlan] = await Promise.all([
    listPlans(service, { ...FIRST_PAGE, filter }),
    readRegions(service),
    listSellingRegions(service),
  ]);
  return {
    plans: plans.items.map((plan) => toSoldPlan(service, plan, soldByPlan.get(plan.id) ?? [])),
    regions,
  };
}

export async function readRegions(service: Service): Promise<readonly Region[]> {
  return (await listRegions(service, { ...FIRST_PAGE, sort: 'name' })).items;
}

export function toSoldPlan(service: Service, plan: Plan, soldByPlan: readonly string[]): SoldPlan {
  const onRequest = isSoldByHand(service, plan.category);
  return { ...plan, prices: cyclePrices(plan), sold_in: soldByPlan, on_request: onRequest };
}

function cyclePrices({ cycles, price_usd_month: monthly }: Plan): CyclePrice[] {
  return cycles.map(({ billing_months: months, price_usd: total }) => {
    const cents = usdToCents(total);
    const month = centsToUsd(mulDiv(cents, 1n, BigInt(months), 'half_up'));
    return { months, total, month, saving: centsToUsd(usdToCents(monthly) * BigInt(months) - cents) };
  });
}

function usdToCents(amount: number): bigint {
  return parseUnits(amount.toFixed(2), 2) ?? 0n;
}

/** Whether orders are closed. A closure of the whole service is shown in the frame of every page instead. */
export async function readOrderingClosed({ rules, service }: Edge): Promise<OrderingClosed> {
  const now = service.clock.now();
  const currentRules = await rules.read();
  const closed = findClosure(currentRules, 'servers.create', now);
  if (closed === null) return null;
  return { note: closed.message === findClosure(currentRules, null, now)?.message ? null : closed.message };
}
