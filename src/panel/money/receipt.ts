/** Printable receipts: for a credited top-up, and for a single ledger entry. */
import { BILLING_PATHS, PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { LedgerEntry } from '../../spec/schemas/balance.ts';
import type { Topup } from '../../spec/schemas/topup.ts';
import { detailList, section, table, time } from '../parts/components.ts';
import { exactUsd, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { coinName, coinUnit } from './coin-names.ts';
import { entryTypeName, formatSignedUsd, resourceLink } from './ledger.ts';

interface Parties {
  readonly site: string;
  readonly email: string;
}

interface TopupReceipt extends Parties {
  readonly topup: Topup;
  readonly bonus_paid_usd: number;
  /** The credited payments. */
  readonly parts: readonly {
    readonly txid: string;
    readonly amount: string;
    readonly rate_usd: string | null;
    readonly credited_usd: number | null;
    readonly confirmations: number;
    readonly first_seen_at: string;
  }[];
  /** Oldest first. */
  readonly entries: readonly LedgerEntry[];
}

export function topupReceiptView(data: TopupReceipt): View {
  const { topup } = data;
  const unit = coinUnit(topup.coin);
  const parts = data.parts.map((part) => [
    html`<code>${part.txid}</code>`,
    time(part.first_seen_at),
    html`${part.amount} ${unit}`,
    exactUsd(part.rate_usd ?? topup.rate_usd),
    usd(part.credited_usd ?? 0),
  ]);
  return receiptPage(html`${detailList([
    ...partyRows(data, data.entries.at(-1)?.created_at ?? topup.created_at),
    [
      'Description',
      html`Balance top-up, <a
href="${resourcePath(BILLING_PATHS.topups, topup.id)}"><code>${topup.id}</code></a>`,
    ],
    ['Paid with', html`${coinName(topup.coin)} (${unit}) on ${topup.network}`],
    ['Paid to', html`<code>${topup.deposit_address}</code>`],
    ['Credited', usd(topup.credited_usd)],
    ['Bonus', data.bonus_paid_usd > 0 ? usd(data.bonus_paid_usd) : 'None'],
    ['Total', html`<strong>${usd(topup.credited_usd + data.bonus_paid_usd)}</strong>`],
  ])}
${section(
  'Payments',
  table({
    caption: 'Payments',
    columns: [
      'Transaction',
      'First seen',
      ...['Amount', `Rate per ${unit}`, 'Credited'].map((name) => ({ name, class: 'number' as const })),
    ],
    rows: parts,
  }),
)}
${section('Ledger entries', entriesTable(data.entries))}`);
}

export function entryReceiptView(
  data: Parties & { readonly entry: LedgerEntry; readonly names: ReadonlyMap<string, string> },
): View {
  const { entry } = data;
  return receiptPage(
    detailList([
      ...partyRows(data, entry.created_at),
      ['Type', entryTypeName(entry.type)],
      ['Description', entry.description],
      [
        'Resource',
        entry.resource && html`${resourceLink(entry.resource, data.names)}, <code>${entry.resource}</code>`,
      ],
      [
        entry.amount_usd < 0 ? 'Paid from your balance' : 'Added to your balance',
        html`<strong>${usd(Math.abs(entry.amount_usd))}</strong>`,
      ],
      ['Balance after', usd(entry.balance_after_usd)],
      ['Entry', html`<code>${entry.id}</code>`],
    ]),
  );
}

function receiptPage(content: Html): View {
  return {
    title: 'Receipt',
    section: 'billing',
    breadcrumbs: [
      ['Billing', PANEL_PATHS.billing],
      ['Ledger', BILLING_PATHS.ledger],
    ],
    body: html`${content}
<p class="soft">Times are in UTC. Amounts are in US dollars. The balance is prepaid.</p>
<p class="soft no-print">Print this page to keep a copy. Only the receipt is printed.</p>`,
  };
}

function partyRows({ site, email }: Parties, date: string): [string, Html | string][] {
  return [
    ['Issued by', site],
    ['Issued to', email],
    ['Date', time(date)],
  ];
}

function entriesTable(list: readonly LedgerEntry[]): Html {
  return table({
    caption: 'Ledger entries',
    columns: ['Entry', 'Time', 'Type', 'Description', { name: 'Amount', class: 'number' }],
    rows: list.map((entry) => [
      html`<code>${entry.id}</code>`,
      time(entry.created_at),
      entryTypeName(entry.type),
      entry.description,
      formatSignedUsd(entry.amount_usd),
    ]),
  });
}
