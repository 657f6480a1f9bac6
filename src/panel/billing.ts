/** A customer's invoices as plain pages: the billing tab and the view of one payment. */
import { PANEL_PATHS } from '../spec/paths.ts';
import { page } from './bare-layout.ts';
import { type Html, html } from './html.ts';

/** All texts are ready to be read. */
export interface InvoiceView {
  readonly orderRef: string;
  readonly amount: string;
  readonly coin: string;
  readonly network: string;
  readonly depositAddress: string;
  readonly depositAmount: string;
  readonly status: string;
  readonly confirmations: string;
  readonly credited: string;
  readonly expiresAt: string;
}

function viewPath(orderRef: string): string {
  return `${PANEL_PATHS.topup}?ref=${encodeURIComponent(orderRef)}`;
}

export function billingPage(data: {
  readonly balance: string;
  readonly invoices: readonly InvoiceView[];
}): string {
  const rows = data.invoices.map(
    (invoice) => html`<tr><td><a href="${viewPath(invoice.orderRef)}">${invoice.orderRef}</a></td>
<td>${invoice.amount}</td><td>${invoice.coin}</td><td>${invoice.status}</td><td>${invoice.credited}</td></tr>
`,
  );
  const table = html`<table><thead><tr><th>Top-up</th><th>Amount</th><th>Coin</th><th>Status</th><th>Credited</th></tr></thead>
<tbody>${rows}</tbody></table>`;
  const held = data.invoices.filter((invoice) => invoice.status === 'error');
  return page(
    'Billing',
    html`<p>Balance: <strong>${data.balance}</strong></p>
${rows.length > 0 ? table : html`<p>No top-ups yet.</p>`}
${held.map(refundInstructions)}
`,
  );
}

export function paymentPage(invoice: InvoiceView): string {
  const facts: [string, string][] = [
    ['Status', invoice.status],
    ['Amount', invoice.amount],
    ['Send', `${invoice.depositAmount} ${invoice.coin}`],
    ['To', invoice.depositAddress],
    ['Network', `${invoice.network}; coins sent on another network are lost`],
    ['Confirmations', invoice.confirmations],
    ['Credited', invoice.credited],
    ['Rate kept until', `${invoice.expiresAt} UTC`],
  ];
  const rows = facts.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>
`,
  );
  return page(
    'Top-up',
    html`<table><tbody>${rows}</tbody></table>
${invoice.status === 'error' && refundInstructions(invoice)}
`,
  );
}

/** SPEC: with the kill-switch on, the row is an error with refund instructions. */
function refundInstructions(invoice: InvoiceView): Html {
  return html`<h2>Top-up ${invoice.orderRef}</h2>
<p>Your payment arrived and is confirmed, but it was not credited: credits are held at the moment. Nothing is lost. Write to
the operator, name this top-up and an address of yours on ${invoice.network}, and say whether you want it credited later or
refunded.</p>
`;
}
