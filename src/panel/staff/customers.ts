/** Customers as staff see them. */
import { buttonLink, statusBadge, table, time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { filterField, filterForm, nothingFound } from './parts.ts';

export interface CustomerItem {
  readonly id: string;
  readonly email: string;
  readonly created_at: string;
  readonly frozen: boolean;
  readonly deleting: boolean;
  readonly balance_usd: number;
  readonly servers: number;
  readonly tags: readonly string[];
}

export function customerPath(id: string): string {
  return `${CONSOLE_PATHS.customers}/${encodeURIComponent(id)}`;
}

/** A link by email address: it finds the customer, too. */
export function customerLink(email: string): Html {
  return html`<a href="${customerPath(email)}">${email}</a>`;
}

/** A link to the customers with a tag. */
export function tagLink(tag: string): Html {
  return html`<a href="${CONSOLE_PATHS.customers}?tag=${encodeURIComponent(tag)}">${tag}</a>`;
}

export function customerState({ frozen, deleting }: { frozen: boolean; deleting: boolean }): Html {
  if (deleting) return statusBadge('being deleted', 'bad');
  return frozen ? statusBadge('frozen', 'bad') : statusBadge('active', 'good');
}

export function customersView(data: {
  readonly forms: FormContext;
  readonly search: string;
  readonly tag: string;
  readonly customers: readonly CustomerItem[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
}): ConsoleView {
  const rows = data.customers.map((row) => [
    html`<a href="${customerPath(row.id)}">${row.email}</a>`,
    customerState(row),
    String(row.servers),
    usd(row.balance_usd),
    row.tags.length === 0 ? '–' : row.tags.map((tag) => html`${tagLink(tag)} `),
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
${filterForm(CONSOLE_PATHS.customers, filterField('tag', 'Tag', data.tag))}
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
          'Tags',
          'Customer since',
        ],
        rows,
      })
}
${data.next && html`<p>${buttonLink('Older customers', data.next, 'plain')}</p>`}`,
  };
}
