/** Plans as staff read them: their price, who pays it, and what another price would change. */
import { centsToUsd, formatCents } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import {
  type CountedPayers,
  countAffectedPayers,
  countPlanPayers,
  listPlanPayers,
} from '../../store/billing/price-changes.ts';
import {
  countUsers,
  listPlans,
  listRegions,
  lockCatalogue,
  type PlanRow,
  updatePlanPrice,
} from '../../store/catalogue/catalogue.ts';
import { listPrices, parsePrice } from '../billing/prices.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

export type RegionObject = Awaited<ReturnType<typeof listRegionObjects>>[number];

/** Lists every region, including retired ones. */
export async function listRegionObjects({ db }: Pick<Service, 'db'>) {
  return (await listRegions(db)).map((row) => ({ object: 'region' as const, ...row }));
}

/** Fails with an OperatorError. */
export async function readRegionObject(service: Pick<Service, 'db'>, id: string) {
  const found = (await listRegionObjects(service)).find((region) => region.id === id);
  if (!found) throw new OperatorError('region not found: the catalog lists all regions');
  const plans = (await listPlans(service.db)).filter((row) => row.active && row.regions.includes(id));
  const { servers, customers } = await countUsers(service.db, { kind: 'regions', id });
  return {
    ...found,
    /** Ids of the plans that are sold there. */
    plans: plans.map((row) => row.id),
    servers: Number(servers),
    customers: Number(customers),
  };
}

type Deps = Pick<Service, 'db' | 'clock'>;

export type PlanObject = ReturnType<typeof toPlanObject>;
export type PlanWithPrices = Awaited<ReturnType<typeof readPlanObject>>;

/** Lists every plan, including retired ones, with the counts of the last ten minutes. */
export async function listPlanObjects({ db }: Pick<Deps, 'db'>): Promise<PlanObject[]> {
  const payers = new Map((await listPlanPayers(db)).map((row) => [row.plan_id, row]));
  return (await listPlans(db)).map((row) => toPlanObject(row, payers.get(row.id)));
}

type Payers = Pick<CountedPayers, 'servers' | 'customers' | 'cents_month' | 'counted_at'>;

function toPlanObject(row: PlanRow, payers: Payers | undefined) {
  return {
    object: 'plan' as const,
    id: row.id,
    category: row.category,
    cpu: row.cpu,
    cpu_model: row.cpu_model,
    ram_mb: row.ram_mb,
    disk_gb: row.disk_gb,
    transfer_tb: row.transfer_tb,
    /** Of new orders, per month. */
    price_usd: centsToUsd(row.price_cents_month),
    backup_percent: row.backup_percent,
    host_tags: row.host_tags,
    regions: row.regions,
    /** False: it is retired. */
    active: row.active,
    /** Those that renew, each at its own price. */
    servers: Number(payers?.servers ?? 0n),
    customers: Number(payers?.customers ?? 0n),
    monthly_usd: centsToUsd(payers?.cents_month ?? 0n),
    /** Null: they were not counted yet. */
    counted_at: payers ? formatRfc3339(payers.counted_at) : null,
  };
}

/** Counts now. With `price`, also what it would change. Fails with an OperatorError for an unknown plan. */
export async function readPlanObject(service: Deps, id: string, price?: string) {
  const row = (await listPlans(service.db)).find((each) => each.id === id) ?? refuseUnknown(id);
  const payers = await countPlanPayers(service.db, id);
  const plan = toPlanObject(row, { ...payers, counted_at: service.clock.now() });
  const announced = (await listPrices(service)).filter((row) => row.plan_id === id);
  return {
    ...plan,
    announced: announced.map((row) => ({
      id: row.shownId,
      price_usd: centsToUsd(row.price_cents_month),
      state: row.state,
      announced_at: formatRfc3339(row.announced_at),
      effective_at: formatRfc3339(row.effective_at),
    })),
    preview: price === undefined ? null : await previewPrice(service, plan, parsePrice(price)),
  };
}

async function previewPrice({ db }: Pick<Deps, 'db'>, plan: PlanObject, cents: bigint) {
  const payers = await countAffectedPayers(db, plan.id, cents);
  const price = centsToUsd(cents);
  return {
    price_usd: price,
    change_percent: Math.round((price / plan.price_usd - 1) * 1_000) / 10,
    /** Whose price an announcement would change. */
    servers: Number(payers.servers),
    customers: Number(payers.customers),
    monthly_usd: centsToUsd(payers.cents_month),
    new_monthly_usd: centsToUsd(payers.servers * cents),
  };
}

/**
 * The monthly difference of a price to the current one, for all servers that renew on the plan and at least
 * for one: what a rule of approval compares, in dollars.
 */
export async function priceDifference({ db }: Pick<Deps, 'db'>, id: string, price: string): Promise<string> {
  const cents = parsePrice(price);
  const plan = (await listPlans(db)).find((row) => row.id === id) ?? refuseUnknown(id);
  const { servers } = await countPlanPayers(db, id);
  const change = cents - plan.price_cents_month;
  return formatCents((change < 0n ? -change : change) * (servers > 0n ? servers : 1n));
}

export interface PlanPriceOrder {
  readonly plan: string;
  readonly price: string;
  /** The price that the person saw: another one is refused. */
  readonly was: string;
}

/** Sets what new orders of a plan cost. Existing servers keep their price. */
export async function setPlanPrice(
  { db, clock }: Deps,
  { plan: id, ...order }: PlanPriceOrder,
): Promise<void> {
  const cents = parsePrice(order.price);
  const was = parsePrice(order.was);
  const now = clock.now();
  await db.transaction(async (tx) => {
    await lockCatalogue(tx);
    const plan = (await listPlans(tx)).find((row) => row.id === id) ?? refuseUnknown(id);
    if (!plan.active) throw new OperatorError(`plan ${id} is retired: no one can order it`);
    if (plan.price_cents_month !== was) {
      const price = formatCents(plan.price_cents_month);
      throw new OperatorError(`the price of ${id} is ${price} by now: look at it again`);
    }
    await updatePlanPrice(tx, id, cents);
    await recordAudit(tx, { actor: systemActor(now), action: 'plan.set_price', resource: id }, now);
  });
}

function refuseUnknown(id: string): never {
  throw new OperatorError(`plan ${id} not found: the catalog lists all plans`);
}
