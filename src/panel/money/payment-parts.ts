/** The payments of a top-up: their transactions, and how many confirmations each has. */
import { table, time } from '../parts/components.ts';
import { exactUsd, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { coinUnit } from './coin-names.ts';
import type { PaymentData } from './payment-data.ts';

const PART_STATES = {
  seen: 'unconfirmed',
  confirming: 'confirming',
  credited: 'credited',
  held: 'withheld',
  refunded: 'refunded',
  gone: 'dropped from the blockchain',
} as const satisfies Record<PaymentData['parts'][number]['state'], string>;

export function paymentsTable(data: PaymentData): Html {
  const unit = coinUnit(data.topup.coin);
  const rows = data.parts.map((part) => [
    transaction(part.txid, data.explorer),
    html`${part.amount} ${unit}`,
    PART_STATES[part.state],
    formatConfirmations(part.confirmations, data.topup.required_confirmations),
    part.rate_usd === null ? 'Pending (late)' : html`${exactUsd(part.rate_usd)}${part.late && ' (late)'}`,
    part.credited_usd === null ? '–' : usd(part.credited_usd),
    time(part.first_seen_at),
  ]);
  return html`${table({
    caption: 'Payments',
    columns: [
      'Transaction',
      { name: 'Amount', class: 'number' },
      'Status',
      'Confirmations',
      { name: 'Rate', class: 'number' },
      { name: 'Credited', class: 'number' },
      'First seen',
    ],
    rows,
  })}
${data.more_parts > 0 && html`<p class="soft">And ${data.more_parts} more.</p>`}`;
}

/** The whole id, cut off by the style sheet: what is selected or copied is whole, also without scripts. */
function transaction(txid: string, explorer: PaymentData['explorer']): Html {
  const id = html`<code class="copy txid" data-copy title="${txid}">${txid}</code>`;
  if (explorer === null) return id;
  return html`${id} <a href="${explorer(txid)}" rel="noreferrer noopener">Explorer</a>`;
}

/** `1 of 6`; once there are enough, `confirmed (6 required)`. */
export function formatConfirmations(confirmations: number, required: number): string {
  return confirmations >= required ? `confirmed (${required} required)` : `${confirmations} of ${required}`;
}
