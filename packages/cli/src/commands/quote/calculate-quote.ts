/** Computes the price of an order, in cents so that sums are exact. */
import type { Plan } from '@skerry/sdk';
import { TOPUP_MAX_USD } from '../../limits.ts';
import { minimumTopup } from '../topup/bonus.ts';

export interface QuotedCycle {
  readonly billing_months: number;
  readonly discount_percent: number;
  /** Rounded, for comparison only. */
  readonly price_usd_month: number;
  readonly price_usd: number;
  readonly total_usd: number;
  /** Null: the balance is unknown. */
  readonly balance_after_usd: number | null;
  /** The smallest top-up that covers the total; null: none is needed, or the balance is unknown. */
  readonly topup_usd: number | null;
  /** The bonus of that top-up. */
  readonly topup_bonus_usd: number | null;
}

export interface Quote {
  readonly object: 'quote';
  readonly plan: string;
  readonly region: string | null;
  readonly count: number;
  readonly deployable: boolean;
  readonly available_in: readonly string[];
  readonly balance_usd: number | null;
  readonly cycles: readonly QuotedCycle[];
}

export interface QuoteRequest {
  readonly region: string | null;
  /** Undefined: all cycles. */
  readonly months: number | undefined;
  readonly count: number;
  readonly balanceUsd: number | null;
}

const CENTS = 100;

export function calculateQuote(plan: Plan, { region, months, count, balanceUsd }: QuoteRequest): Quote {
  const cycles = plan.cycles.filter(
    ({ billing_months }) => months === undefined || billing_months === months,
  );
  return {
    object: 'quote',
    plan: plan.id,
    region,
    count,
    deployable: region === null ? plan.available_in.length > 0 : plan.available_in.includes(region),
    available_in: plan.available_in,
    balance_usd: balanceUsd,
    cycles: cycles.map((cycle) => quoteCycle(cycle, count, balanceUsd)),
  };
}

function quoteCycle(
  { billing_months, discount_percent, price_usd }: Plan['cycles'][number],
  count: number,
  balanceUsd: number | null,
): QuotedCycle {
  const total = Math.round(price_usd * CENTS) * count;
  const after = balanceUsd === null ? null : Math.round(balanceUsd * CENTS) - total;
  const topup = after !== null && after < 0 ? minimumTopup(-after / CENTS) : null;
  return {
    billing_months,
    discount_percent,
    price_usd_month: Math.round((price_usd * CENTS) / billing_months) / CENTS,
    price_usd,
    total_usd: total / CENTS,
    balance_after_usd: after === null ? null : after / CENTS,
    topup_usd: topup?.amountUsd ?? null,
    topup_bonus_usd: topup?.bonusUsd ?? null,
  };
}

/** Returns the reasons why the order is not possible now. With several cycles, the first one decides. */
export function blockingReasons({ plan, region, deployable, available_in, cycles }: Quote): string[] {
  const reasons: string[] = [];
  if (!deployable) {
    const here = region === null ? '' : ` in ${region}`;
    const elsewhere = available_in.length > 0 ? `; available in ${available_in.join(', ')}` : '';
    reasons.push(`plan ${plan} is unavailable${here}${elsewhere}`);
  }
  const [first] = cycles;
  if (first?.topup_usd != null) reasons.push(formatShortfall(first));
  return reasons;
}

function formatShortfall({
  billing_months,
  balance_after_usd,
  topup_usd,
  topup_bonus_usd,
}: QuotedCycle): string {
  const months = billing_months === 1 ? '1 month' : `${billing_months} months`;
  const bonus = topup_bonus_usd ? `, which earns a bonus of $${topup_bonus_usd}` : '';
  const missing = (-(balance_after_usd ?? 0)).toFixed(2);
  const shortfall = `insufficient balance: you're short by $${missing} for ${months}`;
  const amount = (topup_usd ?? 0).toFixed(2);
  if ((topup_usd ?? 0) > TOPUP_MAX_USD)
    return `${shortfall}; top up $${amount} in steps of at most $${TOPUP_MAX_USD}`;
  return `${shortfall}; run skerry topup --amount-usd ${amount}${bonus}`;
}
