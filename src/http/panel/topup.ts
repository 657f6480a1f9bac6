/** Topping up: the page where a top-up is made. With `?ref=` it shows one, as links in older mails and the session surface have it. */
import { listRenewals } from '../../domain/billing/renewals.ts';
import type { Rules } from '../../domain/rules/rules.ts';
import { parseTopupAmount } from '../../domain/topups/amount.ts';
import { listCoins, offerTopup } from '../../domain/topups/offer.ts';
import { getPaymentByRef } from '../../domain/topups/payment.ts';
import { Failure } from '../../kernel/fail.ts';
import { centsNumber, centsText } from '../../kernel/money.ts';
import type { View } from '../../panel/layout.ts';
import { usd } from '../../panel/parts.ts';
import { AMOUNT_MAX_CHARS, topupView } from '../../panel/topup.ts';
import { isCoinCode } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import { MONEY_PATHS, PANEL_PATHS, thingPath } from '../../spec/paths.ts';
import type { Topup } from '../../spec/schemas/topup.ts';
import type { SwitchName } from '../../spec/switches.ts';
import { type Form, field } from '../form.ts';
import { body, number, text } from './fields.ts';
import { type Look, type OwnForm, type PanelPage, restForm } from './page.ts';
import { paymentPage } from './payment.ts';

async function show(look: Look): Promise<View> {
  const ref = field(look.query, 'ref');
  if (ref === '') return await orderPage(look);
  return paymentPage(look, await getPaymentByRef(look.service, look.customer(), ref));
}

async function orderPage(look: Look): Promise<View> {
  const { forms, service } = look;
  // What was typed into a form that was refused, or else what the address says.
  const typed = forms.refused === null ? look.query : forms.values;
  const word = field(typed, 'coin');
  const coin = isCoinCode(word) ? word : null;
  const read = readAmount(field(typed, 'amount').trim().slice(0, AMOUNT_MAX_CHARS));
  const { cents, amount, raisedFrom, problem } = read;
  const { items } = await listRenewals(service, look.customer(), { days: 0 });
  const waiting = items.filter(({ outcome }) => outcome === 'waits');
  return topupView({
    coins: listCoins(service),
    held: isOff(await look.edge.rules.read(), 'topup-credit'),
    ...{ coin, amount, raisedFrom },
    // A form that was refused says it beside the field.
    problem: forms.refused === null ? problem : null,
    offer: cents === null ? null : await offerTopup(service, look.customer(), { coin, amountCents: cents }),
    waiting_usd: waiting.reduce((sum, { price_usd: price }) => sum + price, 0),
    forms,
  });
}

function isOff({ switches }: Rules, name: SwitchName): boolean {
  return switches.some((row) => row.name === name && !row.on_);
}

interface ReadAmount {
  readonly cents: bigint | null;
  readonly amount: string;
  readonly raisedFrom: string | null;
  readonly problem: string | null;
}

/** What is less than the least is made the least: links carry what is missing from a balance. */
function readAmount(typed: string): ReadAmount {
  const none = { cents: null, amount: typed, raisedFrom: null, problem: null };
  if (typed === '') return none;
  try {
    return { ...none, cents: parseTopupAmount(typed) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const most = usd(centsNumber(LIMITS.topupMaxCents));
    if (error.code === 'amount_too_high') return { ...none, problem: `At most ${most} at once.` };
    if (error.code === 'amount_too_low' && /^\d/.test(typed)) {
      const least = LIMITS.topupMinCents;
      return { cents: least, amount: centsText(least), raisedFrom: typed, problem: null };
    }
    return { ...none, problem: 'The amount is a number of US dollars, such as 50 or 49.99.' };
  }
}

const order = body({ coin: text, amount: number });

const create = restForm<Topup>({
  does: 'topups.create',
  body: (form) => {
    const { amount, ...rest } = order(form) as { readonly amount?: unknown };
    return amount === undefined ? rest : { ...rest, amount_usd: amount };
  },
  names: { amount_usd: 'amount' },
  done: (topup) => ({ to: thingPath(MONEY_PATHS.topups, topup.id), notice: 'topup_made' }),
});

/** Shows what the choices come to without scripts: as an address, which holds nothing of the form but them. */
const offer: OwnForm = {
  audit: null,
  unkeyed: true,
  run: async ({ form }) => {
    const choices = ['coin', 'amount'].map((name): [string, string] => [name, cut(form, name)]);
    const query = new URLSearchParams(choices.filter(([, value]) => value !== ''));
    return { to: `${PANEL_PATHS.topup}?${query}#total` };
  },
};

function cut(form: Form, name: string): string {
  return field(form, name).trim().slice(0, AMOUNT_MAX_CHARS);
}

export const TOPUP_PAGES: readonly PanelPage[] = [
  { path: PANEL_PATHS.topup, access: 'customer', show, forms: { create } },
  { path: MONEY_PATHS.offer, access: 'customer', show: orderPage, forms: { create: offer } },
];
