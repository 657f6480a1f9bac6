/** One top-up: where to pay how much, how far the payment has come, and what to do when it is not as it was asked. */
import type { CoinCode } from '../spec/coins.ts';
import { BILLING_PATHS, PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import type { Topup } from '../spec/schemas/topup.ts';
import type { SessionTopupStatus } from '../spec/states.ts';
import { coinName, coinUnit, topupStatusBadge } from './coin-names.ts';
import { copyable, detailList, section, table, time, usd } from './components.ts';
import { type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { qrCode } from './qr.ts';

export interface PaymentData {
  readonly topup: Topup;
  readonly status: SessionTopupStatus;
  readonly parts: readonly {
    readonly txid: string;
    readonly amount: string;
    readonly state: keyof typeof PART_STATES;
    readonly confirmations: number;
    readonly late: boolean;
    readonly rate_usd: string | null;
    readonly credited_usd: number | null;
    readonly first_seen_at: string;
  }[];
  readonly more_parts: number;
  readonly received: string | null;
  readonly received_usd: number;
  readonly bonus_paid_usd: number;
  readonly missing: { readonly usd: number; readonly amount: string | null } | null;
  readonly over_usd: number;
  readonly taken_back: boolean;
  readonly counts_until: string;
  readonly left_ms: number;
  /** When the rate's time is over by the reader's own clock, for scripts. */
  readonly left_until: string;
  /** Where the sandbox's controls are; null: these are real coins. */
  readonly sandbox: string | null;
  readonly forms: FormContext;
}

/** Often enough to see a block, seldom enough for a slow line. */
const REFRESH_S = 15;

/** On some networks the URI is the bare address, which leads nowhere. */
const WALLET_URI = /^(?!javascript:)[a-z]{3,20}:/;

const PART_STATES = {
  seen: 'seen, in no block yet',
  confirming: 'confirming',
  credited: 'credited',
  held: 'held',
  refunded: 'sent back',
  gone: 'left the chain',
} as const;

export function paymentView(data: PaymentData): View {
  const { topup, status } = data;
  const isPending = status === 'waiting' || status === 'confirming';
  return {
    title: `Top-up of ${usd(topup.amount_usd)}`,
    section: 'billing',
    breadcrumbs: [['Billing', PANEL_PATHS.billing]],
    ...(isPending ? { refreshS: REFRESH_S } : {}),
    body: html`<p>${topupStatusBadge(status)}</p>
${paymentStatus(data)}
${status === 'waiting' && howToPay(data)}
${data.missing && status !== 'error' && remainderSection(data, data.missing)}
${status === 'error' && html`<div class="banner fault">${refundInstructions(topup)}</div>`}
${data.parts.length > 0 && section('Payments', paymentsTable(data))}
${section('This top-up', topupDetails(data))}
${status === 'waiting' && cancelSection(data.forms)}
${data.sandbox !== null && isPending && sandboxNote(topup, data.sandbox)}`,
  };
}

function paymentStatus(data: PaymentData): Html {
  const { topup, status } = data;
  const coinIn = html`${data.received} ${coinUnit(topup.coin)}`;
  switch (status) {
    case 'waiting':
      return html`<p>Nothing was seen yet. Pay what stands here; this page shows it when it arrives.</p>`;
    case 'confirming':
      return html`${data.taken_back && html`<p class="banner warn">A payment left its chain after it was credited, so its credit was taken back. It is credited again when the payment returns.</p>`}
${data.received !== null && html`<p>${coinIn} arrived, worth ${usd(data.received_usd)}. <strong>${topup.confirmations} of ${topup.required_confirmations} confirmations.</strong> The balance has it when all are there; you can leave this page.</p>`}
${paymentNotes(data)}`;
    case 'confirmed':
      return html`<p><strong>${usd(topup.credited_usd)}</strong> ${topup.credited_usd === 1 ? 'is' : 'are'} on your balance${data.bonus_paid_usd > 0 && html`, and a bonus of <strong>${usd(data.bonus_paid_usd)}</strong>`}. <a href="${resourcePath(BILLING_PATHS.receipts, topup.id)}">Receipt</a></p>
${paymentNotes(data)}`;
    case 'error':
      return html`<p>Paid and confirmed, not credited.</p>`;
    default:
      return html`<p>${status === 'cancelled' ? 'You cancelled this top-up.' : 'The time for this top-up is over.'} <strong>Do not pay it any more</strong>: <a href="${PANEL_PATHS.topup}">make a new one</a>.</p>
<p>A payment that is on its way is not lost, it is credited: at the rate below when it is in a block by ${time(data.counts_until)}, otherwise at the rate of that moment.</p>`;
  }
}

/** What is not as it was asked, and what became of it. */
function paymentNotes(data: PaymentData): Html {
  const late = data.parts.some((part) => part.late && part.state !== 'gone' && part.state !== 'refunded');
  return html`${late && html`<p>A payment came into a block after ${time(data.counts_until)}, when the rate was not kept any more. It counts at the rate of that moment, which stands beside it.</p>`}
${data.over_usd > 0 && html`<p>You paid more than was asked: all of it counts, ${usd(data.over_usd)} more.</p>`}`;
}

function howToPay(data: PaymentData): Html {
  const { topup } = data;
  const unit = coinUnit(topup.coin);
  const { sidePx } = qrCode(topup.payment_uri);
  return html`${networkWarning(topup)}
<div class="columns"><div>
<p>Send exactly this amount in ${unit}</p>
<p class="once">${copyable(topup.deposit_amount)}</p>
<p>to this address, which is yours for this one top-up</p>
<p class="once">${copyable(topup.deposit_address)}</p>
${WALLET_URI.test(topup.payment_uri) && html`<p><a href="${topup.payment_uri}">Open in a wallet</a></p>`}
<p>The rate is kept until ${time(topup.expires_at)}: <time datetime="${topup.expires_at}" data-until="${data.left_until}">${formatMinutes(data.left_ms)}</time> left.</p>
</div><div>
<p><img src="${resourcePath(BILLING_PATHS.topups, topup.id)}/qr.png" width="${sidePx}" height="${sidePx}" alt="The address and the amount as a QR code"></p>
</div></div>`;
}

function networkWarning({ coin, network }: { readonly coin: CoinCode; readonly network: string }): Html {
  return html`<p class="banner warn">Send only ${coinName(coin)} (${coinUnit(coin)}) on ${network}. Another coin, or the same one on another network, is lost.</p>`;
}

function remainderSection(
  data: PaymentData,
  missing: { readonly usd: number; readonly amount: string | null },
): Html {
  const { topup } = data;
  const unit = coinUnit(topup.coin);
  if (missing.amount === null) {
    return html`<p>${usd(missing.usd)} less arrived than was asked. What arrived counts. The rate is not kept any more: for the rest, <a href="${PANEL_PATHS.topup}">make another top-up</a>.</p>`;
  }
  return section(
    'The rest',
    html`<p>${usd(missing.usd)} less arrived than was asked. What arrived counts, and you can leave it at that. To pay the rest at the same rate, send this amount in ${unit}</p>
<p class="once">${copyable(missing.amount)}</p>
<p>to the same address</p>
<p class="once">${copyable(topup.deposit_address)}</p>
<p>so that it is in a block by ${time(data.counts_until)}. Later it counts at the rate of that moment.</p>
${networkWarning(topup)}`,
  );
}

/** SPEC: with the kill-switch on, the row is an error with refund instructions. */
export function refundInstructions(topup: Pick<Topup, 'id' | 'network'>): Html {
  return html`<p>Your payment arrived and is confirmed, but it was not credited: credits are held at the moment. Nothing is lost.</p>
<p><a href="${PANEL_PATHS.contact}">Write to the operator</a>, name this top-up, <code>${topup.id}</code>, and an address of yours on ${topup.network}, and say
whether you want it credited later or refunded.</p>`;
}

function paymentsTable(data: PaymentData): Html {
  const unit = coinUnit(data.topup.coin);
  const rows = data.parts.map((part) => [
    html`<code>${part.txid}</code>`,
    html`${part.amount} ${unit}`,
    PART_STATES[part.state],
    part.confirmations,
    part.rate_usd === null ? 'waits for a rate (late)' : html`$${part.rate_usd}${part.late && ' (late)'}`,
    part.credited_usd === null ? '–' : usd(part.credited_usd),
    time(part.first_seen_at),
  ]);
  return html`${table({
    caption: 'Payments',
    columns: [
      'Transaction',
      { name: 'Amount', class: 'number' },
      'State',
      { name: 'Confirmations', class: 'number' },
      { name: 'Rate', class: 'number' },
      { name: 'Credited', class: 'number' },
      'First seen',
    ],
    rows,
  })}
${data.more_parts > 0 && html`<p class="soft">And ${data.more_parts} more.</p>`}`;
}

function topupDetails(data: PaymentData): Html {
  const { topup, status } = data;
  const unit = coinUnit(topup.coin);
  const credited = topup.credited_usd > 0;
  return detailList([
    ['Amount', usd(topup.amount_usd)],
    [credited ? 'Bonus' : 'Bonus for that amount', topup.bonus_usd > 0 ? usd(topup.bonus_usd) : 'none'],
    ['Coin', html`${coinName(topup.coin)} (${unit}) on ${topup.network}`],
    ['Asked', html`${topup.deposit_amount} ${unit}, at $${topup.rate_usd} for 1 ${unit}`],
    ['Arrived', data.received !== null && html`${data.received} ${unit}, worth ${usd(data.received_usd)}`],
    ['Address', status !== 'waiting' && html`<code>${topup.deposit_address}</code>`],
    ['Confirmations', `${topup.confirmations} of ${topup.required_confirmations}`],
    ['Credited', credited && usd(topup.credited_usd)],
    ['Rate kept until', time(topup.expires_at)],
    ['Made', time(topup.created_at)],
    ['Id', html`<code>${topup.id}</code>`],
  ]);
}

function cancelSection(forms: FormContext): Html {
  return section(
    'Cancel',
    html`<p>If you have not paid and do not want to: nothing is lost, and it makes room for another one.</p>
${form(forms, { name: 'cancel' }, html`<button class="plain">Cancel this top-up</button>`)}`,
  );
}

function sandboxNote(topup: Topup, baseUrl: string): Html {
  const pay = JSON.stringify({
    coin: topup.coin,
    address: topup.deposit_address,
    amount: topup.deposit_amount,
  });
  const mine = JSON.stringify({ coin: topup.coin, count: topup.required_confirmations });
  return html`<details><summary>This is a sandbox: pay without coins</summary>
<p>Its chains are simulated. Pay this top-up, and make the blocks that confirm it:</p>
<pre tabindex="0">curl ${baseUrl}/sandbox/payments --json '${pay}'
curl ${baseUrl}/sandbox/blocks --json '${mine}'</pre></details>`;
}

/** Rounded down: nobody is told of a minute that is not there. */
function formatMinutes(leftMs: number): string {
  const minutesLeft = Math.floor(leftMs / 60_000);
  return minutesLeft === 1 ? '1 minute' : `${minutesLeft} minutes`;
}
