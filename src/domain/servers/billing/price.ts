/**
 * The price of a cycle (DECISIONS "Discount"), and of each operation that charges or refunds. Quotes, pages,
 * and the operations themselves use the same functions.
 */
import { centsToUsd, mulDiv } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { addMonths, formatRfc3339 } from '../../../kernel/time.ts';
import { CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS, type CycleMonths } from '../../../spec/limits.ts';
import type { PlanCycle } from '../../../spec/schemas/plan.ts';
import { readAnchorDay } from '../../../store/billing/cycles.ts';
import { findAnnouncedPrice } from '../../../store/billing/price-changes.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';

/** Months × monthly price × (100 − discount)/100, rounded half up to the cent. */
export function cyclePriceCents(monthCents: bigint, months: CycleMonths): bigint {
  const percent = BigInt(100 - CYCLE_DISCOUNT_PERCENT[months]);
  return mulDiv(BigInt(months) * monthCents, percent, 100n, 'half_up');
}

/** Returns the price of every cycle that can be ordered. */
export function cyclePrices(monthCents: bigint): PlanCycle[] {
  return CYCLE_MONTHS.map((months) => ({
    billing_months: months,
    discount_percent: CYCLE_DISCOUNT_PERCENT[months],
    price_usd: centsToUsd(cyclePriceCents(monthCents, months)),
  }));
}

/** The part of a plan's price that its backups cost, rounded up to the cent. Without backups, it is null. */
function backupPriceCents(planCents: bigint, percent: number | null): bigint {
  return mulDiv(planCents, BigInt(percent ?? 0), 100n, 'up');
}

/** Returns text such as `s1 in par, 3 months`. */
export function cycleDescription(server: {
  readonly plan_id: string;
  readonly region_id: string | null;
  readonly billing_months: number;
}): string {
  const { plan_id: planId, region_id: regionId, billing_months: months } = server;
  const place = regionId === null ? '' : ` in ${regionId}`;
  return `${planId}${place}, ${months} month${months === 1 ? '' : 's'}`;
}

export interface CyclePrice {
  /** Of the plan. */
  readonly monthCents: bigint;
  /** Of the plan and its backups. */
  readonly cycleCents: bigint;
  /** The part of it that is for backups. */
  readonly backupCents: bigint;
  /** The share of the plan's price that they cost; null: there are none. */
  readonly backupPercent: number | null;
}

export function priceCycle(
  monthCents: bigint,
  months: CycleMonths,
  backupPercent: number | null,
): CyclePrice {
  const planCents = cyclePriceCents(monthCents, months);
  const backupCents = backupPriceCents(planCents, backupPercent);
  return { monthCents, cycleCents: planCents + backupCents, backupCents, backupPercent };
}

/** Returns the text of the entry that charges a cycle. */
export function cycleEntryText(description: string, { backupCents }: CyclePrice): string {
  return backupCents > 0n ? `${description}, with backups` : description;
}

/** The columns of a server that determine its price. */
export type PriceColumns = Pick<
  ServerRow,
  'billing_months' | 'price_cents_month' | 'price_cents_cycle' | 'backup_cents_cycle' | 'backup_percent'
>;

/** Returns the price of the current cycle. */
export function currentPrice(server: PriceColumns): CyclePrice {
  return {
    monthCents: server.price_cents_month,
    cycleCents: server.price_cents_cycle,
    backupCents: server.backup_cents_cycle,
    backupPercent: server.backup_percent,
  };
}

/** Returns the price as the columns of a server. */
export function priceColumns(price: CyclePrice): Omit<PriceColumns, 'billing_months'> {
  return {
    price_cents_month: price.monthCents,
    price_cents_cycle: price.cycleCents,
    backup_cents_cycle: price.backupCents,
    backup_percent: price.backupPercent,
  };
}

/** Returns the price of a cycle that starts at `from`: the deploy price, or one announced by then. */
export async function priceFrom(tx: Sql, server: ServerRow, from: Date): Promise<CyclePrice> {
  const { plan_id: planId, created_at: createdAt, priced_at: pricedAt } = server;
  const cycle = { planId, pricedAt: pricedAt ?? createdAt, from };
  return priceWithAnnouncement(server, await findAnnouncedPrice(tx, cycle));
}

/** Like `priceFrom`, for a caller that already has the announced monthly price, if any. */
export function priceWithAnnouncement(
  server: PriceColumns,
  monthCents: bigint | null | undefined,
): CyclePrice {
  if (monthCents == null || monthCents === server.price_cents_month) return currentPrice(server);
  return priceCycle(monthCents, server.billing_months as CycleMonths, server.backup_percent);
}

/** The cycle that an operation charges. */
export interface PricedCycle extends CyclePrice {
  /** Without the backups. */
  readonly description: string;
  readonly paidUntil: Date;
  readonly anchorDay: number;
}

/** A plan as the catalog prices it today. */
export interface PlanPrice {
  readonly id: string;
  readonly price_cents_month: bigint;
  readonly backup_percent: number;
}

/** Prices an order that is placed now. Without a region, only the description lacks it. */
export function priceOrder(
  order: {
    readonly plan: PlanPrice;
    readonly regionId: string | null;
    readonly billingMonths: CycleMonths;
    readonly hasBackups: boolean;
  },
  now: Date,
): PricedCycle {
  const { plan, regionId, billingMonths: months, hasBackups } = order;
  return {
    ...priceCycle(plan.price_cents_month, months, hasBackups ? plan.backup_percent : null),
    description: cycleDescription({ plan_id: plan.id, region_id: regionId, billing_months: months }),
    ...cycleFrom(now, months),
  };
}

/**
 * Prices starting a server now: a cycle from now, if it is suspended because its last one is not paid. Null:
 * it costs nothing.
 */
export async function priceStart(tx: Sql, server: ServerRow, now: Date): Promise<PricedCycle | null> {
  const { status, suspended_reason: reason, paid_until: paidUntil } = server;
  // A cycle that was not renewed has ended.
  const isPaid = status !== 'suspended' || (reason !== 'not_renewed' && paidUntil > now);
  if (isPaid) return null;
  return {
    ...(await priceFrom(tx, server, now)),
    description: cycleDescription(server),
    ...cycleFrom(now, server.billing_months),
  };
}

/** The cost of a change of the price in the middle of a cycle, with the rest of the cycle paid for again. */
interface PricedRest {
  /** Above 0: charged now. Below: comes back, for a resize when it is done. */
  readonly dueCents: bigint;
  /** The amount that is then paid for the time from then to the end of the cycle; null: for all of it. */
  readonly paid: { readonly from: Date; readonly cents: bigint } | null;
}

export interface PricedChange extends CyclePrice, PricedRest {
  readonly description: string;
}

/** Prices another plan for the rest of the cycle. The same plan, with a larger disk, costs nothing. */
export async function priceResize(
  tx: Sql,
  server: ServerRow,
  plan: PlanPrice,
  now: Date,
): Promise<PricedChange> {
  const { plan_id: planId, region_id: regionId, billing_months: months } = server;
  const description = `${planId} to ${plan.id} in ${regionId}, ${untilEnd(server)}`;
  if (planId === plan.id)
    return { ...currentPrice(server), description, dueCents: 0n, paid: paidSinceChange(server) };
  const percent = server.backup_percent === null ? null : plan.backup_percent;
  const price = priceCycle(plan.price_cents_month, months as CycleMonths, percent);
  return { ...price, description, ...(await priceRest(tx, server, price.cycleCents, now)) };
}

/**
 * Prices enabling or disabling backups for the rest of the cycle, at the share of the catalog. Backups that
 * are already enabled keep theirs. Disabling never costs anything.
 */
export async function priceBackups(
  tx: Sql,
  server: ServerRow,
  wanted: { readonly enabled: boolean; readonly percent: number },
  now: Date,
): Promise<PricedChange> {
  const { plan_id: planId, region_id: regionId } = server;
  const description = `Backups of ${planId} in ${regionId}, ${untilEnd(server)}`;
  const before = currentPrice(server);
  const unchanged = { ...before, description, dueCents: 0n, paid: paidSinceChange(server) };
  if (wanted.enabled === (server.backup_percent !== null)) return unchanged;
  const backupPercent = wanted.enabled ? wanted.percent : null;
  const planCents = before.cycleCents - before.backupCents;
  const backupCents = backupPriceCents(planCents, backupPercent);
  if (backupCents === before.backupCents) return { ...unchanged, backupPercent };
  const cycleCents = planCents + backupCents;
  const rest = await priceRest(tx, server, cycleCents, now);
  const price = { ...before, cycleCents, backupCents, backupPercent, description };
  if (wanted.enabled || rest.dueCents <= 0n) return { ...price, ...rest };
  // Less than a cent would come back, and rounding would charge one: what was paid stays paid.
  const { paid, dueCents } = rest;
  return { ...price, dueCents: 0n, paid: paid && { ...paid, cents: paid.cents - dueCents } };
}

/**
 * Prices the rest of the cycle at another price, to the millisecond: the new price rounded up, less what was
 * paid for it, rounded down. What was paid is exact from one change to the next, so steps add up to one.
 */
async function priceRest(tx: Sql, server: ServerRow, cycleCents: bigint, now: Date): Promise<PricedRest> {
  const { paid_until: end, billing_months: months, price_cents_cycle: currentCents } = server;
  const start = addMonths(end, -months, await readAnchorDay(tx, server.id));
  // A server that never runs gets its whole price back.
  if (server.first_run_at === null)
    return { dueCents: cycleCents - currentCents, paid: { from: start, cents: cycleCents } };
  const known = paidSinceChange(server);
  // A time before the cycle says nothing about it.
  const before = known && known.from >= start ? known : { from: start, cents: currentCents };
  // The next cycle is due.
  if (end <= now) return { dueCents: 0n, paid: before };
  const cents = mulDiv(cycleCents, leftMs(end, now), leftMs(end, start), 'up');
  const beforeCents = mulDiv(before.cents, leftMs(end, now), leftMs(end, before.from), 'down');
  return { paid: { from: now, cents }, dueCents: cents - beforeCents };
}

function untilEnd({ paid_until: end }: ServerRow): string {
  return `until ${formatRfc3339(end).slice(0, 10)}`;
}

/** Returns what was paid from the last change of the price in this cycle to its end; null: there was none. */
export function paidSinceChange({ paid_from: from, paid_cents: cents }: ServerRow): PricedRest['paid'] {
  return from === null || cents === null ? null : { from, cents };
}

function leftMs(end: Date, from: Date): bigint {
  return BigInt(end.getTime() - from.getTime());
}

/** An amount that comes back to the balance. */
export interface Refund {
  readonly cents: bigint;
  readonly description: string;
}

/** Prices the refund of the first cycle of a server that never ran. `reason` completes `s1 in par …`. */
export function priceFirstCycleRefund(
  server: Pick<ServerRow, 'plan_id' | 'region_id' | 'price_cents_cycle'>,
  reason: string,
): Refund {
  const description = `${server.plan_id} in ${server.region_id} ${reason}`;
  return { cents: server.price_cents_cycle, description };
}

/** Prices deleting a server now. Null: nothing comes back, because it has run or is already being deleted. */
export function priceDeletion(server: ServerRow): Refund | null {
  if (server.first_run_at !== null || server.status === 'destroying') return null;
  return priceFirstCycleRefund(server, 'was destroyed before it first ran');
}

function cycleFrom(now: Date, months: number): Pick<PricedCycle, 'paidUntil' | 'anchorDay'> {
  const anchorDay = now.getUTCDate();
  return { paidUntil: addMonths(now, months, anchorDay), anchorDay };
}

/** Returns the discounted, rounded price per month of a plan for a cycle length. */
export function monthlyUsd(monthUsd: number, months: CycleMonths): number {
  const total = cyclePriceCents(BigInt(Math.round(monthUsd * 100)), months);
  return centsToUsd(mulDiv(total, 1n, BigInt(months), 'half_up'));
}
