/** Customers as staff see them. */
import { buttonLink, statusBadge, table, time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { filterField, nothingFound } from './parts.ts';

export interface CustomerItem {
  readonly id: string;
  readonly email: string;
  readonly created_at: string;
  readonly frozen: boolean;
  readonly deleting: boolean;
  readonly balance_usd: number;
  readonly servers: number;
}

export function customerPath(id: string): string {
  return `${CONSOLE_PATHS.customers}/${encodeURIComponent(id)}`;
}

/** A link by email address: it finds the customer, too. */
export function customerLink(email: string): Html {
  return html`<a href="${customerPath(email)}">${email}</a>`;
}

export function customerState({ frozen, deleting }: { frozen: boolean; deleting: boolean }): Html {
  if (deleting) return statusBadge('being deleted', 'bad');
  return frozen ? statusBadge('frozen', 'bad') : statusBadge('active', 'good');
}

export function customersView(data: {
  readonly forms: FormContext;
  readonly search: string;
  readonly customers: readonly CustomerItem[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
}): ConsoleView {
  const rows = data.customers.map((row) => [
    html`<a href="${customerPath(row.id)}">${row.email}</a>`,
    customerState(row),
    String(row.servers),
    usd(row.balance_usd),
    time(row.created_at),
  ]);
  return {
    title: 'Customers',
    section: 'customers',
    body: html`${form(
      data.forms,
      { name: 'find', class: 'filters row' },
      html`${filterField('search', 'Email, ID, server, address, order, or transaction', data.search)}
<button class="plain">Find</button>`,
    )}
${
  rows.length === 0
    ? nothingFound('customers')
    : table({
        caption: 'Customers, newest first',
        columns: [
          'Email',
          'State',
          { name: 'Servers', class: 'number' },
          { name: 'Balance', class: 'number' },
          'Customer since',
        ],
        rows,
      })
}
${data.next && html`<p>${buttonLink('Older customers', data.next, 'plain')}</p>`}`,
  };
}
