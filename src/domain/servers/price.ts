/** The price of a cycle (DECISIONS "Discount") and its description on the ledger. */
import { centsToUsd, mulDiv } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS, type CycleMonths } from '../../spec/limits.ts';
import type { PlanCycle } from '../../spec/schemas/plan.ts';
import { findAnnouncedPrice } from '../../store/billing/price-changes.ts';
import type { ServerRow } from '../../store/servers/servers.ts';

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
