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
  readonly monthCents: bigint;
  readonly cycleCents: bigint;
}

/** Returns the price of a cycle that starts at `from`: the deploy price, or one announced by then. */
export async function priceFrom(tx: Sql, server: ServerRow, from: Date): Promise<CyclePrice> {
  const { plan_id: planId, created_at: createdAt, priced_at: pricedAt } = server;
  const cycle = { planId, pricedAt: pricedAt ?? createdAt, from };
  return priceWithAnnouncement(server, await findAnnouncedPrice(tx, cycle));
}

/** Like `priceFrom`, for a caller that already has the announced monthly price, if any. */
export function priceWithAnnouncement(
  server: Pick<ServerRow, 'billing_months' | 'price_cents_month' | 'price_cents_cycle'>,
  monthCents: bigint | null | undefined,
): CyclePrice {
  if (monthCents == null || monthCents === server.price_cents_month) {
    return { monthCents: server.price_cents_month, cycleCents: server.price_cents_cycle };
  }
  return { monthCents, cycleCents: cyclePriceCents(monthCents, server.billing_months as CycleMonths) };
}

/** The cycle that an operation charges. */
export interface PricedCycle extends CyclePrice {
  readonly description: string;
  readonly paidUntil: Date;
  readonly anchorDay: number;
}

/** Prices an order that is placed now. Without a region, only the description lacks it. */
export function priceOrder(
  order: {
    readonly plan: { readonly id: string; readonly price_cents_month: bigint };
    readonly regionId: string | null;
    readonly billingMonths: CycleMonths;
  },
  now: Date,
): PricedCycle {
  const { plan, regionId, billingMonths: months } = order;
  const monthCents = plan.price_cents_month;
  return {
    monthCents,
    cycleCents: cyclePriceCents(monthCents, months),
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

/** A change of the plan, with the rest of the cycle paid for again. */
export interface PricedResize extends CyclePrice {
  readonly description: string;
  /** Above 0: charged now. Below: comes back when the server is resized. */
  readonly dueCents: bigint;
  /** The amount that is then paid for the time from then to the end of the cycle; null: for all of it. */
  readonly paid: { readonly from: Date; readonly cents: bigint } | null;
}

/**
 * Prices another plan for the rest of the cycle, to the millisecond: the new price rounded up, less what was
 * paid for it, rounded down. What was paid is exact from one resize to the next, so steps add up to one. The
 * same plan, with a larger disk, costs nothing.
 */
export async function priceResize(
  tx: Sql,
  server: ServerRow,
  plan: { readonly id: string; readonly price_cents_month: bigint },
  now: Date,
): Promise<PricedResize> {
  const { plan_id: planId, region_id: regionId, billing_months: months, paid_until: end } = server;
  const description = `${planId} to ${plan.id} in ${regionId}, until ${formatRfc3339(end).slice(0, 10)}`;
  if (planId === plan.id) {
    const { price_cents_month: monthCents, price_cents_cycle: cycleCents } = server;
    return { monthCents, cycleCents, description, dueCents: 0n, paid: paidSinceResize(server) };
  }
  const monthCents = plan.price_cents_month;
  const cycleCents = cyclePriceCents(monthCents, months as CycleMonths);
  const price = { monthCents, cycleCents, description };
  // The next cycle is due.
  if (end <= now) return { ...price, dueCents: 0n, paid: null };
  const start = addMonths(end, -months, await readAnchorDay(tx, server.id));
  const cents = mulDiv(cycleCents, leftMs(end, now), leftMs(end, start), 'up');
  const known = paidSinceResize(server);
  // A time before the cycle says nothing about it.
  const before = known && known.from >= start ? known : { from: start, cents: server.price_cents_cycle };
  const beforeCents = mulDiv(before.cents, leftMs(end, now), leftMs(end, before.from), 'down');
  return { ...price, paid: { from: now, cents }, dueCents: cents - beforeCents };
}

/** Returns what was paid from the last resize in this cycle to its end; null: there was none. */
export function paidSinceResize({ paid_from: from, paid_cents: cents }: ServerRow): PricedResize['paid'] {
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
