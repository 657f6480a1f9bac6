/** Billing: the balance, upcoming renewals, and top-ups. */
import { BILLING_PATHS, PANEL_PATHS, resourcePath, topupPath } from '../../spec/paths.ts';
import type { Balance } from '../../spec/schemas/balance.ts';
import type { Topup } from '../../spec/schemas/topup.ts';
import { COUPON_LIMITS } from '../../spec/staff/coupons.ts';
import type { SessionTopupStatus } from '../../spec/states.ts';
import {
  buttonLink,
  day,
  emptyState,
  pager,
  section,
  statusBadge,
  table,
  tabs,
  time,
} from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { usd, usdValue } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { type KeptOrder, keptOrders } from '../servers/kept-orders.ts';
import { coinUnit, topupStatusBadge } from './coin-names.ts';
import { refundInstructions } from './payment.ts';

interface BillingData {
  /** Whether the host has published a contact. */
  readonly hasContact: boolean;
  readonly balance: Balance;
  /** When the servers are suspended if the balance stays negative; null if it is not. */
  readonly suspend_at: string | null;
  readonly renewals: {
    readonly days: number;
    readonly items: readonly RenewalRow[];
    readonly total_usd: number;
    readonly missing_usd: number;
  };
  /** Those that the customer can continue. */
  readonly orders: readonly KeptOrder[];
  readonly invoices: readonly { readonly topup: Topup; readonly status: SessionTopupStatus }[];
  readonly forms: FormContext;
  readonly next: string | null;
  readonly first: string | null;
}

interface RenewalRow {
  readonly server: string;
  readonly name: string;
  readonly auto_renew: boolean;
  readonly at: string;
  readonly months: number;
  readonly price_usd: number;
  readonly outcome: keyof typeof OUTCOMES;
  readonly balance_after_usd: number;
}

/** The forecast's outcomes, in words. */
const OUTCOMES: Record<
  'renews' | 'short' | 'waits' | 'ends',
  readonly [word: string, tone: Parameters<typeof statusBadge>[1]]
> = {
  renews: ['renews', 'good'],
  short: ['insufficient balance', 'bad'],
  waits: ['suspended, unpaid', 'bad'],
  ends: ['expires', 'off'],
};

/** The forecast periods to choose from, in days. */
export const RENEWAL_DAYS = [30, 90] as const;
/** Keeps the page short for accounts with many servers. */
const RENEWAL_ROWS_MAX = 100;

export function billingTabs(open: string): Html {
  return tabs(
    'Billing',
    [
      ['Overview', PANEL_PATHS.billing],
      ['Ledger', BILLING_PATHS.ledger],
      ['Statements', BILLING_PATHS.statement],
    ],
    open,
  );
}

export function billingView(data: BillingData): View {
  return {
    title: 'Billing',
    section: 'billing',
    header: { actions: buttonLink('Top up', PANEL_PATHS.topup) },
    live: ['srv_', 'top_'],
    body: html`${billingTabs(PANEL_PATHS.billing)}
${part('orders', keptOrders(data.orders))}
${part('summary', balanceSummary(data.balance))}
${part(
  'warning',
  data.suspend_at !== null &&
    html`<p class="banner warn">Your balance is negative because a credited payment was dropped from the
blockchain. Top up before you order. If it is still negative at ${time(data.suspend_at)}, we suspend your
servers.</p>`,
)}
${data.invoices
  .filter(({ status }) => status === 'error')
  .map(({ topup }) => html`<div class="banner fault">${refundInstructions(topup, data.hasContact)}</div>`)}
${part('renewals', section('Upcoming renewals', renewalsTable(data)))}
${part('topups', section('Top-ups', topupsTable(data)))}
${section('Coupon', couponForm(data.forms))}`,
  };
}

function balanceSummary(balance: Balance): Html {
  const rows: readonly (readonly [string, Html | string | number | null])[] = [
    ['Balance', usd(balance.usd)],
    ['Running servers', balance.active_servers],
    ['Paid until', balance.runway_until === null ? '–' : day(balance.runway_until)],
    ['Daily cost', usd(balance.daily_cost_usd)],
  ];
  const warned = balance.low_balance_at;
  const figures = rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`);
  return html`<dl class="figures">${figures}</dl>
${
  warned &&
  html`<p class="soft">“Paid until” is the earliest date when a billing cycle of your running servers ends.
The daily cost is for comparison; we don’t charge daily. If your balance is too low for the renewal, we
notify you from ${day(warned)}.</p>`
}`;
}

function renewalsTable({
  renewals: { days, items, total_usd: total, missing_usd: missing },
}: BillingData): Html {
  const links = RENEWAL_DAYS.map((windowDays) => [`${windowDays} days`, renewalPath(windowDays)] as const);
  const shown = items.slice(0, RENEWAL_ROWS_MAX);
  const rows = shown.map((row) => [
    html`<a href="${resourcePath(PANEL_PATHS.servers, row.server)}">${row.name}</a>`,
    row.outcome === 'waits' ? 'When your balance covers it' : time(row.at),
    `${row.months} ${row.months === 1 ? 'month' : 'months'}`,
    usd(row.price_usd),
    row.auto_renew ? 'On' : 'Off',
    statusBadge(...OUTCOMES[row.outcome]),
    usd(row.balance_after_usd),
  ]);
  const columns = [
    'Server',
    'Date',
    'Billing cycle',
    { name: 'Price', class: 'number' as const },
    'Auto-renew',
    'Outcome',
    { name: 'Balance after', class: 'number' as const },
  ];
  return html`${tabs('Period', links, renewalPath(days))}
${
  missing > 0 &&
  html`<p class="banner warn">You’re short by ${usd(missing)} for renewals in the next ${days} days. <a
href="${topupPath(usdValue(missing))}">Top up the difference</a></p>`
}
${
  rows.length === 0
    ? emptyState(
        `No renewals in the next ${days} days.`,
        html`Servers are paid in advance and renew at the end of each billing cycle. <a
href="${PANEL_PATHS.plans}">See plans</a>`,
      )
    : html`${table({ caption: `Renewals in the next ${days} days`, columns, rows })}
<p class="soft">In the order in which we charge them, based on your current balance. ${
        total > 0 && html`Total: ${usd(total)}. `
      }You can turn auto-renew on or off in each server’s settings.</p>`
}
${items.length > shown.length && html`<p class="soft">And ${items.length - shown.length} more.</p>`}`;
}

function couponForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'redeem');
  return form(
    forms,
    { name: 'redeem', action: PANEL_PATHS.billing },
    html`${fields.text('code', 'Code', {
      required: true,
      maxLength: COUPON_LIMITS.codeMaxChars,
      autocomplete: 'off',
      hint: 'You can use each coupon once. Its amount is added to your balance.',
    })}
<button class="plain">Redeem coupon</button>`,
  );
}

function renewalPath(days: number): string {
  return days === RENEWAL_DAYS[0] ? PANEL_PATHS.billing : `${PANEL_PATHS.billing}?days=${days}`;
}

function topupsTable(data: BillingData): Html {
  if (data.invoices.length === 0)
    return emptyState(
      'No top-ups yet.',
      'Top up your balance with cryptocurrency to pay for servers.',
      buttonLink('Top up', PANEL_PATHS.topup),
    );
  const topupPage = ({ id }: Topup) => resourcePath(BILLING_PATHS.topups, id);
  const rows = data.invoices.map(({ topup, status }) => [
    html`<a
href="${topupPage(topup)}">${usd(topup.amount_usd)} in ${coinUnit(topup.coin)}</a>`,
    topup.network,
    topupStatusBadge(status),
    topup.credited_usd > 0 ? usd(topup.credited_usd + topup.bonus_usd) : '–',
    time(topup.created_at),
  ]);
  return html`${table({
    caption: 'Top-ups',
    columns: [
      'Top-up',
      'Network',
      'Status',
      { name: 'Credited, including bonus', class: 'number' },
      'Created',
    ],
    rows,
  })}
${pager(data)}`;
}
