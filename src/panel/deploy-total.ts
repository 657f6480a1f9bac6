/** What an order costs, what is left after it, and who is paid first. */
import { topupPath } from '../spec/paths.ts';
import type { Plan } from '../spec/schemas/plan.ts';
import type { Region } from '../spec/schemas/region.ts';
import { detailList, usd } from './components.ts';
import { type Html, html } from './html.ts';
import { formatMonths } from './server-format.ts';

/** In US dollars. */
export interface DeployQuote {
  readonly plan: string;
  readonly months: number;
  readonly discountPercent: number;
  readonly totalUsd: number;
  readonly perMonthUsd: number;
  readonly balanceUsd: number;
  readonly afterUsd: number;
  readonly waiting: { readonly servers: number; readonly usd: number };
  readonly missingUsd: number;
}

export function totalBox(
  quote: DeployQuote | null,
  regionId: string,
  { plans, regions }: { readonly plans: readonly Plan[]; readonly regions: readonly Region[] },
): Html {
  if (!quote)
    return html`<div class="total" id="total" aria-live="polite"><p>Choose a plan to see what it costs.</p></div>`;
  const { months, discountPercent: percent, afterUsd, balanceUsd, waiting } = quote;
  const region = regions.find(({ id }) => id === regionId);
  const isAvailable = plans.find(({ id }) => id === quote.plan)?.available_in.includes(regionId) ?? false;
  const isShort = afterUsd < 0;
  const perMonth =
    months > 1 && html` <span class="soft">${usd(quote.perMonthUsd)} a month, ${percent} % less</span>`;
  return html`<div class="total" id="total" aria-live="polite">
${
  region &&
  !isAvailable &&
  html`<p class="problem">${quote.plan} cannot be had in ${region.name} right now. Choose another region or plan.</p>`
}
${detailList([
  ['Server', html`${quote.plan}${region && ` in ${region.name}`}, ${formatMonths(months)}`],
  ['Total', html`<strong>${usd(quote.totalUsd)}</strong>${perMonth}`],
  ['Balance now', usd(balanceUsd)],
  isShort ? ['Missing', html`<strong>${usd(-afterUsd)}</strong>`] : ['Balance after', usd(afterUsd)],
])}
${waiting.servers > 0 && waitingNote(quote)}
${
  isShort &&
  html`<p><a class="button plain" href="${topupPath(quote.missingUsd.toFixed(2))}">Top up what is missing</a></p>`
}</div>`;
}

/** What is topped up goes to them first; what is spent now keeps them waiting. */
function waitingNote({ waiting, afterUsd, missingUsd }: DeployQuote): Html {
  const subject =
    waiting.servers === 1
      ? 'A suspended server of yours waits'
      : `${waiting.servers} suspended servers of yours wait`;
  const sentence = `${subject} for ${usd(waiting.usd)}.`;
  const consequence =
    afterUsd < 0
      ? `Whatever you top up pays that first, so ${usd(missingUsd)} are needed for this order as well.`
      : `This order takes from the balance what would go there: then ${usd(Math.max(waiting.usd - afterUsd, 0))} are missing for that.`;
  return html`<p class="banner warn">${sentence} ${consequence}</p>`;
}
