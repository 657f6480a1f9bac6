/** What the catalogue sells, as pages show it. */
import { listPlans } from '../../domain/catalogue/plans.ts';
import { listRegions } from '../../domain/catalogue/regions.ts';
import { soldIn } from '../../domain/catalogue/sold.ts';
import type { Service } from '../../domain/context.ts';
import { closedFor } from '../../domain/rules/rules.ts';
import { isSoldByHand } from '../../domain/servers/hardware.ts';
import { centsNumber, mulDiv, parseUnits } from '../../kernel/money.ts';
import type { Closed, CyclePrice, SoldPlan } from '../../panel/plans.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { Plan } from '../../spec/schemas/plan.ts';
import type { Region } from '../../spec/schemas/region.ts';
import type { Edge } from '../settings.ts';

/** Far more than any catalogue has; what is beyond is reached over the API. */
const MOST = 100;

const ALL: PageRequest = { filter: {}, sort: 'id', descending: false, after: null, size: MOST };

export interface Offers {
  readonly plans: readonly SoldPlan[];
  readonly regions: readonly Region[];
}

export async function readOffers(
  service: Service,
  filter: Readonly<Record<string, string>> = {},
): Promise<Offers> {
  const [plans, regions, sold] = await Promise.all([
    listPlans(service, { ...ALL, filter }),
    readRegions(service),
    soldIn(service),
  ]);
  return { plans: plans.items.map((plan) => soldPlan(service, plan, sold.get(plan.id) ?? [])), regions };
}

export async function readRegions(service: Service): Promise<readonly Region[]> {
  return (await listRegions(service, { ...ALL, sort: 'name' })).items;
}

export function soldPlan(service: Service, plan: Plan, sold: readonly string[]): SoldPlan {
  const by_hand = isSoldByHand(service, plan.category);
  return { ...plan, prices: pricesOf(plan), sold_in: sold, by_hand };
}

function pricesOf({ cycles }: Plan): CyclePrice[] {
  return cycles.map(({ billing_months: months, price_usd: total }) => {
    const cents = parseUnits(total.toFixed(2), 2) ?? 0n;
    return { months, total, month: centsNumber(mulDiv(cents, 1n, BigInt(months), 'half_up')) };
  });
}

/** Whether servers can be ordered now; what closes everything is said by the frame of every page. */
export async function orderingClosed({ rules, service }: Edge): Promise<Closed> {
  const now = service.clock.now();
  const held = await rules.read();
  const closed = closedFor(held, 'servers.create', now);
  if (closed === null) return null;
  return { note: closed.message === closedFor(held, null, now)?.message ? null : closed.message };
}
