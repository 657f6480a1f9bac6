/** Quotes an order: its cost and the remaining balance. Stores nothing. */
import { centsToUsd, mulDiv } from '../../kernel/money.ts';
import { CYCLE_DISCOUNT_PERCENT, type CycleMonths } from '../../spec/limits.ts';
import { listWaitingServers } from '../../store/billing/calendar.ts';
import { findPlan } from '../../store/catalogue/catalogue.ts';
import { readBalance } from '../../store/ledger/ledger.ts';
import { readCode } from '../catalogue/code.ts';
import type { CustomerActor, Service } from '../context.ts';
import { cyclePriceCents, priceWithAnnouncement } from './price.ts';

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

/** Returns null if the plan does not exist. */
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
