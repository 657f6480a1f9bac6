/** Billing: the balance and how far it reaches, what renews, the top-ups. */
import { BILLING_PATHS, PANEL_PATHS, resourcePath, topupPath } from '../spec/paths.ts';
import type { Balance } from '../spec/schemas/balance.ts';
import type { Topup } from '../spec/schemas/topup.ts';
import type { SessionTopupStatus } from '../spec/states.ts';
import { coinUnit, topupStatusBadge } from './coin-names.ts';
import { day, emptyState, pager, section, statusBadge, table, tabs, time, usd } from './components.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { refundInstructions } from './payment.ts';

export interface BillingData {
  readonly balance: Balance;
  readonly renewals: {
    readonly days: number;
    readonly items: readonly RenewalRow[];
    readonly total_usd: number;
    readonly missing_usd: number;
  };
  readonly invoices: readonly { readonly topup: Topup; readonly status: SessionTopupStatus }[];
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

/** The calendar's word for what will happen: what is said of it. */
const OUTCOMES: Record<
  'renews' | 'short' | 'waits' | 'ends',
  readonly [word: string, tone: Parameters<typeof statusBadge>[1]]
> = {
  renews: ['renews', 'good'],
  short: ['would be suspended', 'bad'],
  waits: ['suspended, waits for the balance', 'bad'],
  ends: ['ends, does not renew', 'off'],
};

/** How far ahead one can look. */
export const RENEWAL_DAYS = [30, 90] as const;
/** A page stays a page, also with many servers. */
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
    body: html`${billingTabs(PANEL_PATHS.billing)}
${balanceSummary(data.balance)}
${data.balance.usd < 0 && html`<p class="banner warn">The balance is below zero: a payment left its chain after it was credited. Nothing can be bought until it is repaid.</p>`}
<p><a class="button" href="${PANEL_PATHS.topup}">Top up</a></p>
${data.invoices.filter(({ status }) => status === 'error').map(({ topup }) => html`<div class="banner fault">${refundInstructions(topup)}</div>`)}
${section('What renews', renewalsTable(data))}
${section('Top-ups', topupsTable(data))}`,
  };
}

function balanceSummary(balance: Balance): Html {
  const rows: readonly (readonly [string, Html | string | number | null])[] = [
    ['Balance', usd(balance.usd)],
    ['Running servers', balance.active_servers],
    ['Paid until', balance.runway_until === null ? '–' : day(balance.runway_until)],
    ['Cost a day', usd(balance.daily_cost_usd)],
  ];
  const warned = balance.low_balance_at;
  return html`<dl class="figures">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
${warned && html`<p class="soft">Paid until: the first end of a cycle among the servers that run. The cost a day is for comparison; nothing is charged daily. Should the balance be too low then, you are told from ${day(warned)} on.</p>`}`;
}

function renewalsTable({
  renewals: { days, items, total_usd: total, missing_usd: missing },
}: BillingData): Html {
  const links = RENEWAL_DAYS.map((windowDays) => [`${windowDays} days`, renewalPath(windowDays)] as const);
  const shown = items.slice(0, RENEWAL_ROWS_MAX);
  const rows = shown.map((row) => [
    html`<a href="${resourcePath(PANEL_PATHS.servers, row.server)}">${row.name}</a>`,
    row.outcome === 'waits' ? 'as soon as the balance suffices' : time(row.at),
    `${row.months} ${row.months === 1 ? 'month' : 'months'}`,
    usd(row.price_usd),
    row.auto_renew ? 'on' : 'off',
    statusBadge(...OUTCOMES[row.outcome]),
    usd(row.balance_after_usd),
  ]);
  const columns = [
    ...['Server', 'When', 'Cycle'],
    { name: 'Price', class: 'number' as const },
    ...['Auto-renew', 'What happens'],
    { name: 'Balance then', class: 'number' as const },
  ];
  return html`${tabs('How far ahead', links, renewalPath(days))}
${missing > 0 && html`<p class="banner warn">${usd(missing)} are missing for all that renews in the next ${days} days. <a href="${topupPath(missing.toFixed(2))}">Top up what is missing</a></p>`}
${
  rows.length === 0
    ? emptyState(
        `Nothing renews in the next ${days} days.`,
        html`A server is paid for in advance; its next cycle is charged when the present one ends. <a href="${PANEL_PATHS.plans}">Look at the plans</a>`,
      )
    : html`${table({ caption: `What renews in the next ${days} days`, columns, rows })}
<p class="soft">In the order in which it is charged, from the balance as it is now. ${total > 0 && html`All that is to renew costs ${usd(total)}. `}Whether a server renews is set on its own page.</p>`
}
${items.length > shown.length && html`<p class="soft">And ${items.length - shown.length} more.</p>`}`;
}

function renewalPath(days: number): string {
  return days === RENEWAL_DAYS[0] ? PANEL_PATHS.billing : `${PANEL_PATHS.billing}?days=${days}`;
}

function topupsTable(data: BillingData): Html {
  if (data.invoices.length === 0)
    return emptyState(
      'No top-ups yet.',
      html`<a href="${PANEL_PATHS.topup}">Top up the balance</a> in a coin; servers are paid from it.`,
    );
  const rows = data.invoices.map(({ topup, status }) => [
    html`<a href="${resourcePath(BILLING_PATHS.topups, topup.id)}">${usd(topup.amount_usd)} in ${coinUnit(topup.coin)}</a>`,
    topup.network,
    topupStatusBadge(status),
    topup.credited_usd > 0 ? usd(topup.credited_usd + topup.bonus_usd) : '–',
    time(topup.created_at),
  ]);
  return html`${table({
    caption: 'Top-ups',
    columns: ['Top-up', 'Network', 'Status', { name: 'Credited with bonus', class: 'number' }, 'Made'],
    rows,
  })}
${pager(data)}`;
}
