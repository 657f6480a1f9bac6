/**
 * The page that creates a top-up. With `?ref=`, it shows one: older mails and the session surface link to it
 * so.
 */
import { listRenewals } from '../../../domain/billing/renewals.ts';
import type { Rules } from '../../../domain/rules/rules.ts';
import { listPayableCoins, offerTopup, parseTopupAmount } from '../../../domain/topups/offer.ts';
import { getPaymentByRef } from '../../../domain/topups/payment.ts';
import { Failure } from '../../../kernel/fail.ts';
import { centsToUsd, formatCents } from '../../../kernel/money.ts';
import { AMOUNT_MAX_CHARS, topupView } from '../../../panel/money/topup.ts';
import { usd } from '../../../panel/parts/format.ts';
import type { View } from '../../../panel/parts/layout.ts';
import { isCoinCode } from '../../../spec/coins.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { BILLING_PATHS, PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import type { Topup } from '../../../spec/schemas/topup.ts';
import type { SwitchName } from '../../../spec/switches.ts';
import { type Form, field } from '../../form.ts';
import { hasContact } from '../assets.ts';
import { bodyReader, number, text } from '../field-readers.ts';
import { type CustomForm, type PageContext, type PanelPage, restForm } from '../page-types.ts';
import { readKeptOrders } from '../servers/order-drafts.ts';
import { renderPayment } from './payment.ts';

async function render(context: PageContext): Promise<View> {
  const ref = field(context.query, 'ref');
  if (ref === '') return await renderOrder(context);
  return await renderPayment(context, await getPaymentByRef(context.service, context.customer(), ref));
}

async function renderOrder(context: PageContext): Promise<View> {
  const { forms, service } = context;
  // The input of a rejected form, or else the query of the URL.
  const input = forms.refused === null ? context.query : forms.values;
  const coinText = field(input, 'coin');
  const coin = isCoinCode(coinText) ? coinText : null;
  const read = parseAmount(field(input, 'amount').trim().slice(0, AMOUNT_MAX_CHARS));
  const { cents, amount, raisedFrom, problem } = read;
  const { items } = await listRenewals(service, context.customer(), { days: 0 });
  const waitingRenewals = items.filter(({ outcome }) => outcome === 'waits');
  return topupView({
    coins: await listPayableCoins(service),
    creditsWithheld: isSwitchedOff(await context.edge.rules.read(), 'topup-credit'),
    hasContact: hasContact(context.edge),
    coin,
    amount,
    orders: await readKeptOrders(context),
    raisedFrom,
    // A rejected form shows the problem next to the field.
    problem: forms.refused === null ? problem : null,
    offer:
      cents === null ? null : await offerTopup(service, context.customer(), { coin, amountCents: cents }),
    waiting_usd: waitingRenewals.reduce((sum, { price_usd: price }) => sum + price, 0),
    forms,
  });
}

function isSwitchedOff({ switches }: Rules, name: SwitchName): boolean {
  return switches.some((row) => row.name === name && !row.on_);
}

interface ParsedAmount {
  readonly cents: bigint | null;
  readonly amount: string;
  readonly raisedFrom: string | null;
  readonly problem: string | null;
}

/** Raises an amount below the minimum: links contain the amount that a balance is short by. */
function parseAmount(input: string): ParsedAmount {
  const empty = { cents: null, amount: input, raisedFrom: null, problem: null };
  if (input === '') return empty;
  try {
    return { ...empty, cents: parseTopupAmount(input) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const maxText = usd(centsToUsd(LIMITS.topupMaxCents));
    if (error.code === 'amount_too_high') return { ...empty, problem: `A top-up is at most ${maxText}.` };
    if (error.code === 'amount_too_low' && /^\d/.test(input)) {
      const minCents = LIMITS.topupMinCents;
      return { cents: minCents, amount: formatCents(minCents), raisedFrom: input, problem: null };
    }
    return { ...empty, problem: 'Enter an amount in US dollars, such as 50 or 49.99.' };
  }
}

const readOrder = bodyReader({ coin: text, amount: number });

const createTopupForm = restForm<Topup>({
  operation: 'topups.create',
  body: (form) => {
    const { amount, ...rest } = readOrder(form) as { readonly amount?: unknown };
    return amount === undefined ? rest : { ...rest, amount_usd: amount };
  },
  fieldNames: { amount_usd: 'amount' },
  done: (topup) => ({ to: resourcePath(BILLING_PATHS.topups, topup.id), notice: 'topup_made' }),
});

/**
 * Shows the total without scripts, at a URL that contains only the coin and the amount. A preset is an
 * amount.
 */
const showOfferForm: CustomForm = {
  audit: null,
  skipIdempotency: true,
  run: async ({ form }) => {
    const choices = {
      coin: truncatedField(form, 'coin'),
      amount: truncatedField(form, form.has('preset') ? 'preset' : 'amount'),
    };
    const query = new URLSearchParams(Object.entries(choices).filter(([, value]) => value !== ''));
    return { to: `${PANEL_PATHS.topup}?${query}#total` };
  },
};

function truncatedField(form: Form, name: string): string {
  return field(form, name).trim().slice(0, AMOUNT_MAX_CHARS);
}

export const TOPUP_PAGES: readonly PanelPage[] = [
  { path: PANEL_PATHS.topup, access: 'customer', render, forms: { create: createTopupForm } },
  { path: BILLING_PATHS.offer, access: 'customer', render: renderOrder, forms: { create: showOfferForm } },
];
