/** The total of an order, with the balance after it. */
import { DEPLOY_TOPUP_PATH, DEPLOY_TOTAL_PATH } from '../../spec/paths.ts';
import { detailList } from '../parts/components.ts';
import type { Fields } from '../parts/form.ts';
import { formatMonths, usd, usdValue } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { DeployData, DeployQuote } from './deploy-data.ts';

/**
 * The total of the choices, and the buttons. The form sends the total that it shows, as the most that the
 * order may cost: a choice made since then is not charged before its own total is shown.
 */
export function totalBox(data: TotalData, fields: Fields): Html {
  const { quote } = data;
  const changed = fields.problem('max_price_usd');
  return html`<div class="total" id="total" aria-live="polite">
${changed !== null && html`<p class="problem" id="${fields.id('max_price_usd')}-problem">${changed}</p>`}
${quote ? quoteDetails(quote, data) : html`<p>Choose a plan to see the total.</p>`}
<p class="row"><button class="plain" formaction="${DEPLOY_TOTAL_PATH}" formnovalidate>Update total</button>
${quote && quote.missingUsd > 0 ? topupButtons(quote) : html`<button>Deploy server</button>`}</p></div>`;
}

/** Deploying stays possible: the balance may have grown, or a choice may have become cheaper. */
function topupButtons({ missingUsd }: DeployQuote): Html {
  return html`<button formaction="${DEPLOY_TOPUP_PATH}" formnovalidate>Top up ${usd(missingUsd)}</button>
<button class="plain">Deploy server</button>`;
}

type TotalData = Pick<DeployData, 'quote' | 'chosen' | 'plans' | 'regions'>;

function quoteDetails(quote: DeployQuote, { chosen, plans, regions }: TotalData): Html {
  const { months, discountPercent: percent, afterUsd, balanceUsd, waiting } = quote;
  const region = regions.find(({ id }) => id === chosen.region);
  const isAvailable =
    plans.find(({ id }) => id === quote.plan)?.available_in.includes(chosen.region) ?? false;
  const problem =
    region && !isAvailable
      ? `${quote.plan} is unavailable in ${region.name} right now. Choose another region or plan.`
      : quote.problem;
  const isShort = afterUsd < 0;
  const perMonth =
    months > 1 && html` <span class="soft">(${usd(quote.perMonthUsd)} per month, ${percent}% off)</span>`;
  return html`<input type="hidden" name="max_price_usd" value="${usdValue(quote.totalUsd)}">
${problem !== null && html`<p class="problem">${problem}</p>`}
${detailList([
  ['Server', html`${quote.plan}${region && ` in ${region.name}`}, ${formatMonths(months)}`],
  ...(quote.backupsUsd > 0 ? ([['Backups', usd(quote.backupsUsd)]] as const) : []),
  ['Total', html`<strong>${usd(quote.totalUsd)}</strong>${perMonth}`],
  ['Current balance', usd(balanceUsd)],
  isShort ? ['You’re short by', html`<strong>${usd(-afterUsd)}</strong>`] : ['Balance after', usd(afterUsd)],
])}
${waiting.servers > 0 && waitingNote(quote)}
${isShort && html`<p class="soft">After the top-up, you return to this order.</p>`}`;
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
