/** The page where a top-up is made: coin, amount, and what comes of it before anything is paid. */
import type { CoinCode } from '../spec/coins.ts';
import { BONUS_TIERS_USD, LIMITS } from '../spec/limits.ts';
import { BILLING_PATHS, PANEL_PATHS } from '../spec/paths.ts';
import { coinLabel, coinUnit } from './coin-names.ts';
import { detailList, table, usd } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';

/** Longer than any amount that can be topped up. */
export const AMOUNT_MAX_CHARS = 20;

export interface TopupData {
  /** The operator holds all credits. */
  readonly creditsWithheld: boolean;
  readonly coins: readonly {
    readonly code: CoinCode;
    readonly network: string;
    readonly open: boolean;
  }[];
  readonly coin: CoinCode | null;
  /** As it stands in its field. */
  readonly amount: string;
  /** What was asked for, where it is less than the least that can be topped up. */
  readonly raisedFrom: string | null;
  /** What is wrong with the amount. */
  readonly problem: string | null;
  readonly offer: {
    readonly amount_usd: number;
    readonly bonus_usd: number;
    readonly balance_after_usd: number;
    readonly coin: {
      readonly code: CoinCode;
      readonly amount: string;
      readonly rate_usd: string;
      readonly confirmations: number;
    } | null;
    readonly coin_unavailable: boolean;
    readonly kept_minutes: number;
  } | null;
  /** What servers that wait for the balance cost together: they are paid first. */
  readonly waiting_usd: number;
  readonly forms: FormContext;
}

const MIN_USD = Number(LIMITS.topupMinCents) / 100;
const LEAST_BONUS_FROM_USD = Math.min(...BONUS_TIERS_USD.map(([from]) => from));
const MAX_USD = Number(LIMITS.topupMaxCents) / 100;

export function topupView(data: TopupData): View {
  return {
    title: 'Top up',
    section: 'billing',
    breadcrumbs: [['Billing', PANEL_PATHS.billing]],
    body: html`<p>You pay in a coin; the balance is in US dollars. Servers are paid from the balance, nothing else is charged.</p>
${data.creditsWithheld && html`<p class="banner warn">The operator holds all credits at the moment: what you pay now is confirmed, and credited or given back later.</p>\n`}${!data.coins.some(({ open }) => open) && html`<p class="banner warn">No coin can be paid in right now: try later, or <a href="${PANEL_PATHS.contact}">ask the operator</a>.</p>`}
<div class="columns"><div>
${orderForm(data)}
</div><div>
${totalSection(data)}
${bonusTiers()}
</div></div>`,
  };
}

function orderForm(data: TopupData): Html {
  const fields = new Fields(data.forms, 'create');
  // What this host does not take is no choice; where it takes nothing the page says so above.
  const coins = data.coins
    .filter(({ open }) => open)
    .map((coin) => fields.radio('coin', coin.code, coinLabel(coin), { checked: coin.code === data.coin }));
  return form(
    data.forms,
    { name: 'create', action: PANEL_PATHS.topup, live: '#total' },
    html`<fieldset><legend>Coin</legend>
<div class="choices coins">
${coins}</div>
${fields.notes('coin')}</fieldset>
${fields.text('amount', 'Amount in US dollars', {
  value: data.amount,
  inputmode: 'decimal',
  autocomplete: 'off',
  required: true,
  maxLength: AMOUNT_MAX_CHARS,
  size: 12,
  hint: `${usd(MIN_USD)} to ${usd(MAX_USD)}, with at most two decimals.`,
})}
<div class="row"><button class="plain" formaction="${BILLING_PATHS.offer}">Show what I get</button> <button>Get an address to pay to</button></div>`,
  );
}

/** What scripts fetch anew when a choice changes: so it says, too, what is wrong with the amount. */
function totalSection(data: TopupData): Html {
  return html`<section id="total" class="total" aria-labelledby="what-you-get" aria-live="polite">
<h2 id="what-you-get">What you get</h2>
${data.raisedFrom !== null && html`<p>You asked for $${data.raisedFrom}. The least that can be topped up is ${usd(MIN_USD)}; the rest stays on your balance.</p>`}
${data.problem !== null && html`<p class="problem">${data.problem}</p>`}
${offerDetails(data)}
</section>`;
}

function offerDetails({ offer, problem, coin, waiting_usd: waiting }: TopupData): Html | null {
  if (offer === null)
    return problem === null ? html`<p>Choose a coin and an amount to see what comes of it.</p>` : null;
  const { coin: coinQuote } = offer;
  return html`${detailList([
    [
      'You pay',
      coinQuote &&
        html`<strong>${coinQuote.amount} ${coinUnit(coinQuote.code)}</strong>, at ${formatRate(coinQuote)}`,
    ],
    ['Amount', usd(offer.amount_usd)],
    ['Bonus', offer.bonus_usd > 0 ? usd(offer.bonus_usd) : `none below ${usd(LEAST_BONUS_FROM_USD)}`],
    ['Balance after', html`<strong>${usd(offer.balance_after_usd)}</strong>`],
  ])}
${waiting > 0 && html`<p>Servers that wait for the balance are paid from it first: ${usd(waiting)}.</p>`}
${coin === null && html`<p>Choose a coin to see how much of it that is.</p>`}
${offer.coin_unavailable && html`<p class="problem">There is no rate for this coin right now: try later, or take another one.</p>`}
${
  coinQuote &&
  html`<p>This is the rate of now. It is kept for ${offer.kept_minutes} minutes once you ask for an address. The payment counts after ${coinQuote.confirmations} ${coinQuote.confirmations === 1 ? 'confirmation' : 'confirmations'}.</p>`
}`;
}

function formatRate(coin: { readonly code: CoinCode; readonly rate_usd: string }): string {
  return `$${coin.rate_usd} for 1 ${coinUnit(coin.code)}`;
}

function bonusTiers(): Html {
  const rows = BONUS_TIERS_USD.map(([from, bonus]) => [`from ${usd(from)}`, usd(bonus)]);
  return html`<h2 id="bonus">Bonus</h2>
${table({ caption: 'Bonus by amount', columns: ['Top-up', { name: 'Bonus', class: 'number' }], rows })}
<p class="soft">The highest that is reached counts, once for each top-up.</p>`;
}
