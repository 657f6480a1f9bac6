/** Top-ups as staff see them. */
import { buttonLink, detailList, section, statusBadge, table, time } from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { exactUsd, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { customerLink } from './customers.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { actForm, filterChoice, filterField, filterForm, nothingFound, reasonField } from './parts.ts';

export interface StaffTopup {
  readonly id: string;
  readonly order_ref: string;
  readonly customer: string;
  readonly coin: string;
  readonly status: string;
  readonly amount_usd: number;
  readonly rate_usd: string;
  readonly deposit_address: string;
  readonly deposit_amount: string;
  readonly received_amount: string;
  readonly withheld_amount: string;
  readonly refunded_amount: string;
  readonly unsent_amount: string;
  readonly credited_usd: number;
  readonly bonus_usd: number;
  readonly reversed_usd: number;
  readonly reversed_at: string | null;
  readonly cancelled_at: string | null;
  readonly expires_at: string;
  readonly created_at: string;
}

interface StaffPayment {
  readonly txid: string;
  readonly amount: string;
  readonly state: string;
  readonly confirmations: number;
  readonly withheld: boolean;
  readonly credited_usd: number | null;
  readonly refunded_at: string | null;
  readonly first_seen_at: string;
}

export type StaffTopupWithPayments = StaffTopup & { readonly payments: readonly StaffPayment[] };

export function topupPath(id: string): string {
  return `${CONSOLE_PATHS.topups}/${encodeURIComponent(id)}`;
}

function isWithheld({ withheld_amount: amount }: StaffTopup): boolean {
  return Number(amount) > 0;
}

function stateOf({ status }: StaffTopup): Html {
  return statusBadge(status, status === 'credited' ? 'good' : 'off');
}

export function topupsView(data: {
  readonly filter: { readonly customer: string; readonly status: string; readonly coin: string };
  readonly statuses: readonly string[];
  readonly coins: readonly string[];
  readonly topups: readonly StaffTopup[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
}): ConsoleView {
  const { filter } = data;
  const rows = data.topups.map((row) => [
    html`<a class="txid" href="${topupPath(row.id)}" title="${row.order_ref}">${row.order_ref}</a>`,
    html`${stateOf(row)}${isWithheld(row) && html` ${statusBadge('withheld', 'bad')}`}`,
    customerLink(row.customer),
    usd(row.amount_usd),
    `${row.received_amount} ${row.coin}`,
    usd(row.credited_usd + row.bonus_usd),
    time(row.created_at),
  ]);
  return {
    title: 'Top-ups',
    section: 'topups',
    body: html`${filterForm(
      CONSOLE_PATHS.topups,
      html`${filterField('customer', 'Customer', filter.customer)}${filterChoice(
        'status',
        'Status',
        filter.status,
        data.statuses,
      )}${filterChoice('coin', 'Coin', filter.coin, data.coins)}`,
    )}
${
  rows.length === 0
    ? nothingFound('top-ups')
    : table({
        caption: 'Top-ups, newest first',
        columns: [
          'Order',
          'Status',
          'Customer',
          { name: 'Requested', class: 'number' },
          { name: 'Received', class: 'number' },
          { name: 'Credited', class: 'number' },
          'Created',
        ],
        rows,
      })
}
${data.next && html`<p>${buttonLink('Older top-ups', data.next, 'plain')}</p>`}`,
  };
}

export function topupView(data: {
  readonly forms: FormContext;
  readonly topup: StaffTopupWithPayments;
  readonly mayRelease: boolean;
}): ConsoleView {
  const { topup, forms } = data;
  const amount = (text: string) => `${text} ${topup.coin}`;
  const payments = topup.payments.map((row) => [
    html`<code class="copy txid" data-copy title="${row.txid}">${row.txid}</code>`,
    amount(row.amount),
    row.state,
    String(row.confirmations),
    row.withheld ? 'withheld' : row.credited_usd === null ? 'not credited' : usd(row.credited_usd),
    time(row.first_seen_at),
  ]);
  return {
    title: topup.order_ref,
    section: 'topups',
    breadcrumbs: [['Top-ups', CONSOLE_PATHS.topups]],
    status: stateOf(topup),
    facts: [usd(topup.amount_usd), amount(topup.deposit_amount)],
    body: html`${detailList([
      ['ID', html`<code class="copy" data-copy>${topup.id}</code>`],
      ['Customer', customerLink(topup.customer)],
      ['Address', html`<code class="copy" data-copy>${topup.deposit_address}</code>`],
      ['Rate', html`${exactUsd(topup.rate_usd)} until ${time(topup.expires_at)}`],
      ['Received', amount(topup.received_amount)],
      ['Withheld', isWithheld(topup) && amount(topup.withheld_amount)],
      ['Refunded', Number(topup.refunded_amount) > 0 && amount(topup.refunded_amount)],
      ['Refund pending', Number(topup.unsent_amount) > 0 && amount(topup.unsent_amount)],
      ['Credited', `${usd(topup.credited_usd)} and a bonus of ${usd(topup.bonus_usd)}`],
      ['Taken back', topup.reversed_at && html`${usd(topup.reversed_usd)}, ${time(topup.reversed_at)}`],
      ['Canceled', topup.cancelled_at && time(topup.cancelled_at)],
      ['Created', time(topup.created_at)],
    ])}
${section(
  'Payments',
  payments.length === 0
    ? html`<p>No payment was seen.</p>`
    : table({
        caption: 'Payments, oldest first',
        columns: ['Transaction', 'Amount', 'State', 'Confirmations', 'Credited', 'First seen'],
        rows: payments,
      }),
)}
${
  data.mayRelease &&
  isWithheld(topup) &&
  section(
    'Actions',
    actForm(
      forms,
      { name: 'release', title: 'Credit the withheld payments', button: 'Credit payments' },
      reasonField(new Fields(forms, 'release')),
    ),
  )
}`,
  };
}
