/** The top-up form: coin, amount, and a preview of the result before payment. */
import type { CoinCode } from '../../spec/coins.ts';
import { BONUS_TIERS_USD, LIMITS } from '../../spec/limits.ts';
import { BILLING_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { contactLink } from '../parts/brand.ts';
import { detailList } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { exactUsd, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { type KeptOrder, keptOrders } from '../servers/kept-orders.ts';
import { coinLabel, coinUnit } from './coin-names.ts';

/** Longer than any valid amount. */
export const AMOUNT_MAX_CHARS = 20;

interface TopupData {
  /** Whether the operator withholds all credits. */
  readonly creditsWithheld: boolean;
  /** Whether the host has published a contact. */
  readonly hasContact: boolean;
  /** Those that the service accepts. */
  readonly coins: readonly {
    readonly code: CoinCode;
    readonly network: string;
    /** Why it has no exchange rate right now. */
    readonly problem: string | null;
  }[];
  readonly coin: CoinCode | null;
  /** As shown in its field. */
  readonly amount: string;
  /** Those to continue after the top-up. */
  readonly orders: readonly KeptOrder[];
  /** The requested amount, if it was below the minimum and therefore raised. */
  readonly raisedFrom: string | null;
  /** The error on the amount. */
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
    readonly coin_problem: string | null;
    readonly kept_minutes: number;
  } | null;
  /** The total cost of suspended servers that are paid first. */
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
    body: html`<p>You pay in cryptocurrency. Your balance is in US dollars and can only pay for servers.</p>
${
  data.creditsWithheld &&
  html`<p class="banner warn">Credits are currently withheld. We confirm your payment now and credit or
refund it later.</p>\n`
}${
  data.coins.length === 0 &&
  html`<p class="banner warn">No coins are accepted right now. Try again later${
    data.hasContact && html`, or ${contactLink('contact us', true)}`
  }.</p>`
}
${keptOrders(data.orders)}
<div class="columns"><div>
${orderForm(data)}
</div><div>
${totalSection(data)}
</div></div>`,
  };
}

function orderForm(data: TopupData): Html {
  const fields = new Fields(data.forms, 'create');
  const coins = data.coins.map((coin) =>
    fields.radio('coin', coin.code, coinChoice(coin), { checked: coin.code === data.coin }),
  );
  return form(
    data.forms,
    { name: 'create', action: PANEL_PATHS.topup, live: '#total' },
    html`<fieldset><legend>Coin</legend>
<div class="choices coins">
${coins}</div>
${fields.notes('coin')}</fieldset>
${fields.text('amount', 'Amount (USD)', {
  value: data.amount,
  inputmode: 'decimal',
  autocomplete: 'off',
  required: true,
  maxLength: AMOUNT_MAX_CHARS,
  size: 12,
  hint: `${usd(MIN_USD)} to ${usd(MAX_USD)}, with at most two decimal places.`,
})}
<p class="presets"><button class="plain" formaction="${BILLING_PATHS.offer}" formnovalidate>Update</button>
${BONUS_TIERS_USD.map(([from, bonus]) => presetButton(from, bonus))}</p>
<p class="hint">Each top-up receives the highest bonus it qualifies for.</p>
<p><button>Continue to payment</button></p>`,
  );
}

/** Comes after “Update”: Enter in the amount presses the first button of the form, and keeps the amount. */
function presetButton(fromUsd: number, bonusUsd: number): Html {
  const bonus = html`<span class="soft">+ ${wholeUsd(bonusUsd)} bonus</span>`;
  return html`<button class="plain" formaction="${BILLING_PATHS.offer}" formnovalidate
name="preset" value="${fromUsd}">${wholeUsd(fromUsd)} ${bonus}</button>\n`;
}

function wholeUsd(amount: number): string {
  return usd(amount).replace(/\.00$/, '');
}

/** A coin without a rate can be chosen: it may have one by the time that the form is sent. */
function coinChoice(coin: TopupData['coins'][number]): Html {
  if (coin.problem === null) return coinLabel(coin);
  return html`${coinLabel(coin)}<br><span class="problem">Temporarily unavailable. ${coin.problem}</span>`;
}

/** Scripts refetch this part when a choice changes, so it includes the error on the amount. */
function totalSection(data: TopupData): Html {
  return html`<section id="total" class="total" aria-labelledby="summary" aria-live="polite">
<h2 id="summary">Summary</h2>
${
  data.raisedFrom !== null &&
  html`<p>You need ${exactUsd(data.raisedFrom)}. The minimum top-up is ${usd(MIN_USD)}; the rest stays on your
balance.</p>`
}
${data.problem !== null && html`<p class="problem">${data.problem}</p>`}
${offerDetails(data)}
</section>`;
}

function offerDetails({ offer, problem, coin, waiting_usd: waiting }: TopupData): Html | null {
  if (offer === null)
    return problem === null ? html`<p>Choose a coin and an amount to see a summary.</p>` : null;
  const { coin: coinQuote } = offer;
  return html`${detailList([
    [
      'You pay',
      coinQuote &&
        html`<strong>${coinQuote.amount} ${coinUnit(coinQuote.code)}</strong> at ${formatRate(coinQuote)}`,
    ],
    ['Amount', usd(offer.amount_usd)],
    ['Bonus', offer.bonus_usd > 0 ? usd(offer.bonus_usd) : `None below ${usd(LEAST_BONUS_FROM_USD)}`],
    ['Credited', html`<strong>${usd(offer.amount_usd + offer.bonus_usd)}</strong>`],
    ['Balance after', html`<strong>${usd(offer.balance_after_usd)}</strong>`],
  ])}
${waiting > 0 && html`<p>Your suspended servers are paid first: ${usd(waiting)}.</p>`}
${coin === null && html`<p>Choose a coin to see the amount to send.</p>`}
${offer.coin_problem !== null && html`<p class="problem">${offer.coin_problem}</p>`}
${
  coinQuote &&
  html`<p>This is the current rate. We lock it for ${offer.kept_minutes} minutes when you continue to
payment. Your payment is credited after ${coinQuote.confirmations} ${
    coinQuote.confirmations === 1 ? 'confirmation' : 'confirmations'
  }.</p>`
}`;
}

function formatRate(coin: { readonly code: CoinCode; readonly rate_usd: string }): string {
  return `${exactUsd(coin.rate_usd)} per ${coinUnit(coin.code)}`;
}
