/** The ledger: all entries on the balance, and a printable monthly statement. */
import { BILLING_PATHS, PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import { LEDGER_TYPES, type LedgerEntry } from '../../spec/schemas/balance.ts';
import { detailList, emptyState, pager, table, time } from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { billingTabs } from './billing.ts';

const ENTRY_TYPE_NAMES: Record<LedgerEntry['type'], string> = {
  charge: 'Charge',
  topup: 'Top-up',
  bonus: 'Bonus',
  refund: 'Refund',
  adjustment: 'Adjustment',
  reversal: 'Reversal',
};

export function entryTypeName(type: LedgerEntry['type']): string {
  return ENTRY_TYPE_NAMES[type];
}

/** `+$30.00`, `−$12.50`. */
export function formatSignedUsd(amount: number): string {
  return amount > 0 ? `+${usd(amount)}` : usd(amount);
}

/** Returns a link to an entry's resource; a deleted server has no page. */
export function resourceLink(resource: string | null, names: ReadonlyMap<string, string>): Html | null {
  if (resource === null) return null;
  if (resource.startsWith('top_'))
    return html`<a href="${resourcePath(BILLING_PATHS.topups, resource)}">Top-up</a>`;
  const name = names.get(resource);
  return name === undefined
    ? html`<span class="soft">Deleted server</span>`
    : html`<a href="${resourcePath(PANEL_PATHS.servers, resource)}">${name}</a>`;
}

export function ledgerView(data: {
  readonly entries: readonly LedgerEntry[];
  /** Names of existing servers by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly type: string;
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
}): View {
  const rows = data.entries.map((entry) => [
    time(entry.created_at),
    entryTypeName(entry.type),
    formatSignedUsd(entry.amount_usd),
    usd(entry.balance_after_usd),
    entry.description,
    resourceLink(entry.resource, data.names),
    html`<a href="${resourcePath(BILLING_PATHS.receipts, entry.id)}">Receipt</a>`,
  ]);
  return {
    title: 'Ledger',
    section: 'billing',
    breadcrumbs: [['Billing', PANEL_PATHS.billing]],
    body: html`${billingTabs(BILLING_PATHS.ledger)}
${typeFilter(data)}
${
  rows.length === 0
    ? emptyState(
        data.type === '' ? 'No entries yet.' : 'No entries of this type yet.',
        html`<a href="${PANEL_PATHS.topup}">Top up your balance</a>. Each credit and each charge is listed
here.`,
      )
    : table({
        caption: 'Ledger',
        columns: [
          'Time',
          'Type',
          { name: 'Amount', class: 'number' },
          { name: 'Balance after', class: 'number' },
          'Description',
          'Resource',
          'Receipt',
        ],
        rows,
      })
}
${pager(data)}`,
  };
}

function typeFilter({ type, forms }: { readonly type: string; readonly forms: FormContext }): Html {
  const fields = new Fields(forms, 'filter');
  const choices = LEDGER_TYPES.map((word) => [word, ENTRY_TYPE_NAMES[word]] as const);
  return html`<form method="get" class="filters"><div class="row">
${fields.select('type', 'Type', { value: type, choices: [['', 'All'], ...choices] })}
<button class="plain">Apply</button>
</div></form>`;
}

interface StatementData {
  /** `November 2026`. */
  readonly name: string;
  readonly site: string;
  readonly email: string;
  readonly opening_usd: number;
  readonly closing_usd: number;
  readonly in_usd: number;
  readonly out_usd: number;
  /** Oldest first. */
  readonly entries: readonly LedgerEntry[];
  readonly names: ReadonlyMap<string, string>;
  readonly previousPath: string;
  /** Null if the next month has not started. */
  readonly nextMonthPath: string | null;
  /** Whether this is the current month. */
  readonly isCurrent: boolean;
  readonly next: string | null;
  readonly first: string | null;
}

export function statementView(data: StatementData): View {
  const rows = data.entries.map((entry) => [
    time(entry.created_at),
    entryTypeName(entry.type),
    entry.description,
    resourceLink(entry.resource, data.names),
    html`<code>${entry.id}</code>`,
    formatSignedUsd(entry.amount_usd),
  ]);
  return {
    title: `Statement for ${data.name}`,
    section: 'billing',
    breadcrumbs: [['Billing', PANEL_PATHS.billing]],
    body: html`${billingTabs(BILLING_PATHS.statement)}
<p class="no-print"><a href="${data.previousPath}">Previous month</a>${
      data.nextMonthPath !== null && html` · <a href="${data.nextMonthPath}">Next month</a>`
    }</p>
${detailList([
  ['Issued by', data.site],
  ['Issued to', data.email],
  ['Opening balance', usd(data.opening_usd)],
  ['Money in', formatSignedUsd(data.in_usd)],
  ['Money out', formatSignedUsd(data.out_usd)],
  [data.isCurrent ? 'Current balance' : 'Closing balance', html`<strong>${usd(data.closing_usd)}</strong>`],
])}
${
  rows.length === 0
    ? html`<p>No entries in this month.</p>`
    : table({
        caption: `Ledger entries, ${data.name}`,
        columns: ['Time', 'Type', 'Description', 'Resource', 'Entry', { name: 'Amount', class: 'number' }],
        rows,
      })
}
${pager(data)}
<p class="soft">Times are in UTC. Amounts are in US dollars.</p>`,
  };
}
