import type { Plan } from '@skerry/sdk';
import { command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { nullIf } from '../find.ts';
import { BONUS_TIERS_USD, CYCLES, TOPUP_MAX_USD, TOPUP_MIN_USD } from '../limits.ts';
import { flag, integer, requiredText, text } from '../options.ts';
import { type Column, formatUsd } from '../output/format.ts';

const COUNT_MAX = 1_000;

const QUOTE_COLUMNS: readonly Column<QuotedCycle>[] = [
  { name: 'months', value: (cycle) => cycle.billing_months },
  { name: 'discount', value: (cycle) => `${cycle.discount_percent} %` },
  { name: 'month_usd', value: (cycle) => formatUsd(cycle.price_usd_month) },
  { name: 'cycle_usd', value: (cycle) => formatUsd(cycle.price_usd) },
  { name: 'total_usd', value: (cycle) => formatUsd(cycle.total_usd) },
  { name: 'left_usd', value: (cycle) => formatUsd(cycle.balance_after_usd) },
  { name: 'topup_usd', value: (cycle) => formatUsd(cycle.topup_usd) },
];

export const quote = command({
  name: 'quote',
  about: 'Show the price of an order and whether you can place it now',
  help: `Compares all billing cycles unless you select one. month_usd is the price per month, cycle_usd
the price of one server for the cycle, total_usd the price of all servers, and left_usd the remaining
balance. topup_usd is the smallest top-up that covers the total with its bonus. Nothing is ordered. With
--check, the command exits with 7 if you could not place the order now; the default cycle is 1 month.`,
  operations: ['plans.get', 'balance.get'],
  options: {
    plan: requiredText('id', 'ID of the plan', { completionKind: 'plan' }),
    region: text('code', 'Region (default: any)', { completionKind: 'region' }),
    billingMonths: text('months', 'Show only this billing cycle', { choices: CYCLES }),
    count: integer('number', 'Number of servers (default: 1)', { min: 1, max: COUNT_MAX }),
    check: flag('Exit with 7 if you could not place the order now'),
  },
  columns: QUOTE_COLUMNS,
  example: 'skerry quote --plan s2 --region par --billing-months 12 --count 3',
  run: async ({ skerry, output, terminal }, { plan: id, region, billingMonths, count, check }) => {
    const plan = await requireFound('plan', id, skerry.plans.get(id));
    const balanceUsd = (await nullIf('forbidden_scope', skerry.balance.get()))?.usd ?? null;
    const months = billingMonths === undefined ? undefined : Number(billingMonths);
    const quoted = calculateQuote(plan, { region: region ?? null, months, count: count ?? 1, balanceUsd });
    if (region !== undefined && !quoted.deployable) {
      await requireFound('region', region, skerry.regions.get(region));
    }
    output.list(quoted.cycles, QUOTE_COLUMNS, quoted);
    const reasons = blockingReasons(quoted);
    if (check && reasons.length > 0) throw new Failure('refused', reasons.join('; '));
    for (const reason of reasons) terminal.warn(`skerry: ${reason}`);
    if (balanceUsd === null) terminal.note('Balance unknown: it requires a token with scope billing.');
    else terminal.note(`Balance: ${formatUsd(balanceUsd)} USD.`);
  },
});

/** Tells what does not exist from what is unavailable. */
async function requireFound<T>(kind: 'plan' | 'region', id: string, call: Promise<T>): Promise<T> {
  const found = await nullIf('not_found', call);
  if (found !== null) return found;
  throw new Failure('not_found', `${kind} "${id}" not found; see \`skerry ${kind} list\``);
}

interface QuotedCycle {
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

interface QuoteRequest {
  readonly region: string | null;
  /** Undefined: all cycles. */
  readonly months: number | undefined;
  readonly count: number;
  readonly balanceUsd: number | null;
}

const CENTS = 100;

/** Computes in cents, so that sums are exact. */
function calculateQuote(plan: Plan, { region, months, count, balanceUsd }: QuoteRequest): Quote {
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
function blockingReasons({ plan, region, deployable, available_in, cycles }: Quote): string[] {
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

/** Returns the smallest top-up that adds this much to the balance, bonus included. */
export function minimumTopup(missingUsd: number): { readonly amountUsd: number; readonly bonusUsd: number } {
  const missing = Math.round(missingUsd * CENTS);
  const choices = [[TOPUP_MIN_USD, 0] as const, ...BONUS_TIERS_USD].map(([from, bonus]) => ({
    amount: Math.max(from * CENTS, missing - bonus * CENTS),
    bonus: bonus * CENTS,
  }));
  // Of equal amounts, the later tier has the bonus.
  const least = choices.reduce((best, one) => (one.amount <= best.amount ? one : best));
  return { amountUsd: least.amount / CENTS, bonusUsd: least.bonus / CENTS };
}
