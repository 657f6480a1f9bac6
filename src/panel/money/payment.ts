/** One top-up: payment instructions, progress, and what to do if the payment differs from the request. */
import type { CoinCode } from '../../spec/coins.ts';
import { BILLING_PATHS, PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Topup } from '../../spec/schemas/topup.ts';
import { REVERSAL_FATES } from '../../spec/states.ts';
import { contactLink } from '../parts/brand.ts';
import { copyable, detailList, section, time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { exactUsd, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { part, type StepState, stepList } from '../parts/live.ts';
import { keptOrders } from '../servers/kept-orders.ts';
import { coinName, coinUnit, topupStatusBadge } from './coin-names.ts';
import type { PaymentData } from './payment-data.ts';
import { formatConfirmations, paymentsTable } from './payment-parts.ts';
import { qrCode } from './qr.ts';
import { sandboxSection } from './sandbox-payment.ts';

/** Often enough to see a new block, rarely enough for a slow connection. */
const REFRESH_S = 15;
/** Simulated blocks come when they are asked for. */
const SANDBOX_REFRESH_S = 3;

/** On some networks the URI is the bare address, which is not a valid link. */
const WALLET_URI = /^(?!javascript:)[a-z]{3,20}:/;

export function paymentView(data: PaymentData): View {
  const { topup, status } = data;
  const isPending = status === 'waiting' || status === 'confirming';
  return {
    title: `Top-up of ${usd(topup.amount_usd)}`,
    section: 'billing',
    breadcrumbs: [['Billing', PANEL_PATHS.billing]],
    ...(isPending ? { refreshS: data.sandbox === null ? REFRESH_S : SANDBOX_REFRESH_S } : {}),
    live: [topup.id],
    header: {
      status: topupStatusBadge(status),
      facts: [`${coinUnit(topup.coin)} on ${topup.network}`, time(topup.created_at)],
    },
    body: html`${part(
      'status',
      html`${paymentSteps(data)}
${data.taken_back && reversalNote(data.taken_back)}
${paymentStatus(data)}`,
    )}
${part('order', keptOrders(data.orders))}
${part('pay', status === 'waiting' && howToPay(data))}
${part('sandbox', data.sandbox !== null && isPending && sandboxSection(data, data.sandbox.url))}
${part(
  'rest',
  html`${data.missing && status !== 'error' && remainderSection(data, data.missing)}
${status === 'error' && html`<div class="banner fault">${refundInstructions(topup, data.hasContact)}</div>`}`,
)}
${part('payments', data.parts.length > 0 && section('Payments', paymentsTable(data)))}
${part('details', section('Details', topupDetails(data)))}
${part('cancel', status === 'waiting' && cancelSection(data.forms))}`,
  };
}

/** Where a payment is on its way to the balance. Null: none is expected, or it needs an answer. */
function paymentSteps({ topup, status }: PaymentData): Html | null {
  if (status !== 'waiting' && status !== 'confirming' && status !== 'confirmed') return null;
  const states: Record<typeof status, readonly [StepState, StepState, StepState]> = {
    waiting: ['now', 'next', 'next'],
    confirming: ['done', 'now', 'next'],
    confirmed: ['done', 'done', 'done'],
  };
  const [seen, confirming, credited] = states[status];
  const { confirmations, required_confirmations: required } = topup;
  const count = status === 'confirming' ? ` ${formatConfirmations(confirmations, required)}` : '';
  return stepList('Progress of the payment', [
    ['Seen', seen],
    [`Confirming${count}`, confirming],
    ['Credited', credited],
  ]);
}

function paymentStatus(data: PaymentData): Html {
  const { topup, status } = data;
  const coinIn = html`${data.received} ${coinUnit(topup.coin)}`;
  switch (status) {
    case 'waiting':
      return html`<p>We haven’t seen a payment yet. Send the amount below; this page updates when it
arrives.</p>`;
    case 'confirming':
      return html`${
        data.received !== null &&
        html`<p>We received ${coinIn}, worth ${usd(data.received_usd)}.
<strong>${topup.confirmations} of ${topup.required_confirmations} confirmations.</strong> We’ll credit your
balance once all confirmations are in. You can close this page.</p>`
      }
${paymentNotes(data, 'We’ll credit')}`;
    case 'confirmed':
      return html`<p><strong>${usd(topup.credited_usd)}</strong> was credited to your balance${
        data.bonus_paid_usd > 0 && html`, plus a bonus of <strong>${usd(data.bonus_paid_usd)}</strong>`
      }. <a href="${resourcePath(BILLING_PATHS.receipts, topup.id)}">View receipt</a></p>
${paymentNotes(data, 'We credited')}`;
    case 'error':
      return html`<p>We have not credited your payment yet. Tell us what to do with it:</p>`;
    default:
      return html`<p>${status === 'cancelled' ? 'You canceled this top-up.' : 'This top-up expired.'}
<strong>Don’t send a payment for it.</strong> <a href="${PANEL_PATHS.topup}">Create a new top-up</a>
instead.</p>
<p>If you already sent a payment, it is not lost. We allow some extra time after the rate lock: if it is in
a block by ${time(data.counts_until)}, we credit it at the rate below; otherwise, at the exchange rate at
that time.</p>`;
  }
}

function reversalNote({ usd: amount, at, fate }: NonNullable<PaymentData['taken_back']>): Html {
  return html`<p class="banner warn">The network removed the block of your payment, so we took back
<strong>${usd(amount)}</strong> of its credit, bonus included, at ${time(at)}. ${REVERSAL_FATES[fate]}
<a href="${BILLING_PATHS.ledger}">View ledger</a></p>`;
}

/** Explains late payments and overpayment. */
function paymentNotes(data: PaymentData, credit: 'We credited' | 'We’ll credit'): Html {
  const late = data.parts.some((part) => part.late && part.state !== 'gone' && part.state !== 'refunded');
  return html`${
    late &&
    html`<p>A payment reached the blockchain after ${time(data.counts_until)}, when the locked rate had
expired. ${credit} it at the exchange rate at that time, shown next to the payment.</p>`
  }
${
  data.over_usd > 0 && html`<p>You paid ${usd(data.over_usd)} more than requested. ${credit} all of it.</p>`
}`;
}

function howToPay(data: PaymentData): Html {
  const { topup } = data;
  const unit = coinUnit(topup.coin);
  const { sidePx } = qrCode(topup.payment_uri);
  const qrPath = `${resourcePath(BILLING_PATHS.topups, topup.id)}/qr.png`;
  return html`${networkWarning(topup)}
<div class="columns"><div>
<p>Send exactly this amount of ${unit}:</p>
<p class="once">${copyable(topup.deposit_amount)}</p>
<p>To this address, which is reserved for this top-up:</p>
<p class="once">${copyable(topup.deposit_address)}</p>
${WALLET_URI.test(topup.payment_uri) && html`<p><a href="${topup.payment_uri}">Open in a wallet</a></p>`}
<p>The rate is locked until ${time(topup.expires_at)} (<time datetime="${topup.expires_at}"
data-until="${data.left_until}">${formatMinutes(data.left_ms)}</time> left).</p>
</div><div>
<p><img src="${qrPath}" width="${sidePx}" height="${sidePx}"
alt="QR code with the address and the amount"></p>
</div></div>`;
}

function networkWarning({ coin, network }: { readonly coin: CoinCode; readonly network: string }): Html {
  return html`<p class="banner warn">Send only ${coinName(coin)} (${coinUnit(coin)}) on the ${network}
network. Other coins, and the same coin on another network, will be lost.</p>`;
}

function remainderSection(
  data: PaymentData,
  missing: { readonly usd: number; readonly amount: string | null },
): Html {
  const { topup } = data;
  const unit = coinUnit(topup.coin);
  if (missing.amount === null) {
    return html`<p>Your payment is ${usd(missing.usd)} short. We credit the amount that we received. The
locked rate has expired. To pay the rest, <a href="${PANEL_PATHS.topup}">create another top-up</a>.</p>`;
  }
  return section(
    'Pay the rest',
    html`<p>Your payment is ${usd(missing.usd)} short. We credit the amount that we received, so paying the
rest is optional. To pay it at the same rate, send this amount of ${unit}:</p>
<p class="once">${copyable(missing.amount)}</p>
<p>To the same address:</p>
<p class="once">${copyable(topup.deposit_address)}</p>
<p>It must be in a block by ${time(data.counts_until)}. After that, we use the exchange rate at
the time of its block.</p>
${networkWarning(topup)}`,
  );
}

/** SPEC: with the kill-switch on, the row is an error with refund instructions. */
export function refundInstructions(topup: Pick<Topup, 'id' | 'network'>, hasContact: boolean): Html {
  return html`<p>Your payment arrived and is confirmed, but crediting was paused, so we withheld it. Your
money is not lost.</p>
<p>${contactLink('Contact us', hasContact)} with the ID of this top-up, <code>${topup.id}</code>.
Tell us whether you want it credited later or refunded. For a refund, include one of your own addresses on
the ${topup.network} network.</p>`;
}

function topupDetails(data: PaymentData): Html {
  const { topup, status } = data;
  const unit = coinUnit(topup.coin);
  const credited = topup.credited_usd > 0;
  return detailList([
    ['Amount', usd(topup.amount_usd)],
    [credited ? 'Bonus' : 'Bonus for this amount', topup.bonus_usd > 0 ? usd(topup.bonus_usd) : 'None'],
    ['Coin', html`${coinName(topup.coin)} (${unit}) on ${topup.network}`],
    ['Requested', html`${topup.deposit_amount} ${unit} at ${exactUsd(topup.rate_usd)} per ${unit}`],
    ['Received', data.received !== null && html`${data.received} ${unit}, worth ${usd(data.received_usd)}`],
    ['Address', status !== 'waiting' && html`<code>${topup.deposit_address}</code>`],
    ['Confirmations', formatConfirmations(topup.confirmations, topup.required_confirmations)],
    ['Credited', credited && usd(topup.credited_usd)],
    ['Rate locked until', time(topup.expires_at)],
    ['Created', time(topup.created_at)],
    ['ID', html`<code>${topup.id}</code>`],
  ]);
}

function cancelSection(forms: FormContext): Html {
  return section(
    'Cancel',
    html`<p>If you don’t plan to pay, cancel this top-up. Canceling is free, and you can create another
one.</p>
${form(forms, { name: 'cancel' }, html`<button class="plain">Cancel top-up</button>`)}`,
  );
}

/** Rounds down, so that the page never promises a minute that has passed. */
function formatMinutes(leftMs: number): string {
  const minutesLeft = Math.floor(leftMs / 60_000);
  return minutesLeft === 1 ? '1 minute' : `${minutesLeft} minutes`;
}
