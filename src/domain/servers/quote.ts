/** What an order would cost, and what would be left of the balance. Nothing is kept of it. */
import { centsToUsd, mulDiv } from '../../kernel/money.ts';
import { CYCLE_DISCOUNT_PERCENT, type CycleMonths } from '../../spec/limits.ts';
import { listWaitingServers } from '../../store/calendar.ts';
import { findPlan } from '../../store/catalogue.ts';
import { readBalance } from '../../store/ledger.ts';
import { readCode } from '../catalogue/code.ts';
import type { CustomerActor, Service } from '../context.ts';
import { announcedPrice, cyclePriceCents } from './price.ts';

/** In US dollars. */
export interface Quote {
  readonly plan: string;
  readonly months: CycleMonths;
  readonly discountPercent: number;
  /** Of the whole cycle, and what that makes a month, rounded. */
  readonly totalUsd: number;
  readonly perMonthUsd: number;
  readonly balanceUsd: number;
  /** Below zero by what is missing. */
  readonly afterUsd: number;
  /** What suspended servers wait for: a movement of the balance pays them in their turn, before any order to come. */
  readonly waiting: { readonly servers: number; readonly usd: number };
  /** What to top up so that the order can be placed after those are paid; 0: nothing. */
  readonly missingUsd: number;
}

/** Null where there is no such plan. */
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
    .map((server) => announcedPrice(server, server.announced_cents_month).cycleCents)
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

/** A month of a plan in a cycle of so many months, with its discount, rounded. */
export function monthlyUsd(monthUsd: number, months: CycleMonths): number {
  const total = cyclePriceCents(BigInt(Math.round(monthUsd * 100)), months);
  return centsToUsd(mulDiv(total, 1n, BigInt(months), 'half_up'));
}
