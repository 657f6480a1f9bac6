/** The price of a cycle (DECISIONS "Discount"), its description on the ledger, and the quote of an order. */

import { readCode } from '../../../kernel/ids.ts';
import { centsToUsd, mulDiv } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS, type CycleMonths } from '../../../spec/limits.ts';
import type { PlanCycle } from '../../../spec/schemas/plan.ts';
import { listWaitingServers } from '../../../store/billing/calendar.ts';
import { findAnnouncedPrice } from '../../../store/billing/price-changes.ts';
import { findPlan } from '../../../store/catalogue/catalogue.ts';
import { readBalance } from '../../../store/ledger/ledger.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../../context.ts';

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
export function cycleDescription(
  server: Pick<ServerRow, 'plan_id' | 'region_id' | 'billing_months'>,
): string {
  const months = server.billing_months;
  return `${server.plan_id} in ${server.region_id}, ${months} month${months === 1 ? '' : 's'}`;
}

export interface CyclePrice {
  readonly monthCents: bigint;
  readonly cycleCents: bigint;
}

/** Returns the price of a cycle that starts at `from`: the deploy price, or one announced by then. */
export async function priceFrom(tx: Sql, server: ServerRow, from: Date): Promise<CyclePrice> {
  const { plan_id: planId, created_at: createdAt } = server;
  return priceWithAnnouncement(server, await findAnnouncedPrice(tx, { planId, createdAt, from }));
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

/** Amounts are in US dollars. */
export interface Quote {
  readonly plan: string;
  readonly months: CycleMonths;
  readonly discountPercent: number;
  /** For the whole cycle, and that amount per month, rounded. */
  readonly totalUsd: number;
  readonly perMonthUsd: number;
  readonly balanceUsd: number;
  /** Negative if the balance is insufficient. */
  readonly afterUsd: number;
  /** Suspended servers that wait for payment: the next balance change pays them before any new order. */
  readonly waiting: { readonly servers: number; readonly usd: number };
  /** Amount to top up so that the order succeeds after those are paid; 0 if none. */
  readonly missingUsd: number;
}

/** Quotes an order: its cost and the remaining balance. Stores nothing. Null if the plan does not exist. */
export async function quoteServer(
  service: Service,
  actor: CustomerActor,
  request: { readonly plan: string; readonly months: CycleMonths },
): Promise<Quote | null> {
  const { customerId } = actor;
  const now = service.clock.now();
  const [plan, balance, waiting] = await Promise.all([
    findPlan(service.reads, readCode(request.plan) ?? ''),
    readBalance(service.reads, customerId),
    listWaitingServers(service.reads, customerId, now),
  ]);
  if (!plan) return null;
  const { months } = request;
  const total = cyclePriceCents(plan.price_cents_month, months);
  const waitingCents = waiting
    .map((server) => priceWithAnnouncement(server, server.announced_cents_month).cycleCents)
    .reduce((sum, cents) => sum + cents, 0n);
  const after = balance - total;
  return {
    plan: plan.id,
    months,
    discountPercent: CYCLE_DISCOUNT_PERCENT[months],
    totalUsd: centsToUsd(total),
    perMonthUsd: centsToUsd(mulDiv(total, 1n, BigInt(months), 'half_up')),
    balanceUsd: centsToUsd(balance),
    afterUsd: centsToUsd(after),
    waiting: { servers: waiting.length, usd: centsToUsd(waitingCents) },
    missingUsd: after < 0n ? centsToUsd(waitingCents - after) : 0,
  };
}

/** Returns the discounted, rounded price per month of a plan for a cycle length. */
export function monthlyUsd(monthUsd: number, months: CycleMonths): number {
  const total = cyclePriceCents(BigInt(Math.round(monthUsd * 100)), months);
  return centsToUsd(mulDiv(total, 1n, BigInt(months), 'half_up'));
}
