/** The total of an order, with the balance after it. */
import { topupPath } from '../../spec/paths.ts';
import type { Plan, Region } from '../../spec/schemas/plan.ts';
import { detailList, usd } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import { formatMonths } from './format.ts';

/** Amounts in US dollars. */
export interface DeployQuote {
  readonly plan: string;
  readonly months: number;
  readonly discountPercent: number;
  /** The part of the total that is for backups. */
  readonly backupsUsd: number;
  readonly totalUsd: number;
  readonly perMonthUsd: number;
  readonly balanceUsd: number;
  readonly afterUsd: number;
  readonly waiting: { readonly servers: number; readonly usd: number };
  readonly missingUsd: number;
  /** Why the order would be refused, other than for the balance; null if it would not. */
  readonly problem: string | null;
}

export function totalBox(
  quote: DeployQuote | null,
  regionId: string,
  { plans, regions }: { readonly plans: readonly Plan[]; readonly regions: readonly Region[] },
): Html {
  if (!quote)
    return html`<div class="total" id="total" aria-live="polite"><p>Choose a plan to see the
total.</p></div>`;
  const { months, discountPercent: percent, afterUsd, balanceUsd, waiting } = quote;
  const region = regions.find(({ id }) => id === regionId);
  const isAvailable = plans.find(({ id }) => id === quote.plan)?.available_in.includes(regionId) ?? false;
  const problem =
    region && !isAvailable
      ? `${quote.plan} is unavailable in ${region.name} right now. Choose another region or plan.`
      : quote.problem;
  const isShort = afterUsd < 0;
  const perMonth =
    months > 1 && html` <span class="soft">(${usd(quote.perMonthUsd)} per month, ${percent}% off)</span>`;
  return html`<div class="total" id="total" aria-live="polite">
${problem !== null && html`<p class="problem">${problem}</p>`}
${detailList([
  ['Server', html`${quote.plan}${region && ` in ${region.name}`}, ${formatMonths(months)}`],
  ...(quote.backupsUsd > 0 ? ([['Backups', usd(quote.backupsUsd)]] as const) : []),
  ['Total', html`<strong>${usd(quote.totalUsd)}</strong>${perMonth}`],
  ['Current balance', usd(balanceUsd)],
  isShort ? ['You’re short by', html`<strong>${usd(-afterUsd)}</strong>`] : ['Balance after', usd(afterUsd)],
])}
${waiting.servers > 0 && waitingNote(quote)}
${
  isShort &&
  html`<p><a class="button plain"
href="${topupPath(quote.missingUsd.toFixed(2))}">Top up the difference</a></p>`
}</div>`;
}

/** Top-ups pay for suspended servers first, so an order now delays them. */
function waitingNote({ waiting, afterUsd, missingUsd }: DeployQuote): Html {
  const subject =
    waiting.servers === 1 ? 'Your suspended server needs' : `Your ${waiting.servers} suspended servers need`;
  const sentence = `${subject} ${usd(waiting.usd)} to resume.`;
  const consequence =
    afterUsd < 0
      ? `A top-up pays for that first, so top up ${usd(missingUsd)} to also place this order.`
      : `After this order, you’ll be short by ${usd(Math.max(waiting.usd - afterUsd, 0))}.`;
  return html`<p class="banner warn">${sentence} ${consequence}</p>`;
}
