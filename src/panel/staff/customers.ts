/** Customers as staff see them. */
import { buttonLink, detailList, section, statusBadge, table, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { actForm, counted, filterField, nothingFound, reasonField } from './parts.ts';

export interface CustomerItem {
  readonly id: string;
  readonly email: string;
  readonly created_at: string;
  readonly frozen: boolean;
  readonly deleting: boolean;
  readonly balance_usd: number;
  readonly servers: number;
}

export interface CustomerFacts {
  readonly id: string;
  readonly email: string;
  readonly email_confirmed_at: string | null;
  readonly has_openpgp_key: boolean;
  readonly totp_since: string | null;
  readonly passkeys: number;
  readonly created_at: string;
  readonly frozen_at: string | null;
  readonly deleting_at: string | null;
  readonly balance_usd: number;
  readonly pending_payments: number;
  readonly servers: number;
  readonly suspended_servers: number;
  readonly held_servers: number;
  readonly volumes: number;
  readonly snapshots: number;
  readonly sessions: number;
  readonly tokens: number;
}

export function customerPath(id: string): string {
  return `${CONSOLE_PATHS.customers}/${encodeURIComponent(id)}`;
}

/** A link by email address: it finds the customer, too. */
export function customerLink(email: string): Html {
  return html`<a href="${customerPath(email)}">${email}</a>`;
}

function stateOf({ frozen, deleting }: { frozen: boolean; deleting: boolean }): Html {
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
    stateOf(row),
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

export function customerView(data: {
  readonly forms: FormContext;
  readonly customer: CustomerFacts;
  readonly may: { readonly freeze: boolean; readonly credit: boolean; readonly disableTotp: boolean };
}): ConsoleView {
  const { customer } = data;
  const query = `customer=${encodeURIComponent(customer.email)}`;
  return {
    title: customer.email,
    section: 'customers',
    breadcrumbs: [['Customers', CONSOLE_PATHS.customers]],
    status: stateOf({ frozen: customer.frozen_at !== null, deleting: customer.deleting_at !== null }),
    facts: [`${usd(customer.balance_usd)} balance`, counted(customer.servers, 'server')],
    body: html`<p class="page-actions">${buttonLink('Servers', `${CONSOLE_PATHS.servers}?${query}`, 'plain')}
${buttonLink('Top-ups', `${CONSOLE_PATHS.topups}?${query}`, 'plain')}
${buttonLink('Audit log', `${CONSOLE_PATHS.audit}?${query}`, 'plain')}
${buttonLink('Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(customer.id)}`, 'plain')}</p>
${facts(customer)}
${acts(data)}`,
  };
}

function facts(row: CustomerFacts): Html {
  return detailList([
    ['ID', html`<code class="copy" data-copy>${row.id}</code>`],
    ['Email confirmed', row.email_confirmed_at ? time(row.email_confirmed_at) : 'no'],
    ['OpenPGP key', row.has_openpgp_key ? 'yes' : 'no'],
    ['One-time codes', row.totp_since ? html`since ${time(row.totp_since)}` : 'off'],
    ['Passkeys', String(row.passkeys)],
    ['Customer since', time(row.created_at)],
    ['Frozen', row.frozen_at && html`since ${time(row.frozen_at)}`],
    ['Being deleted', row.deleting_at && html`since ${time(row.deleting_at)}`],
    ['Pending payments', String(row.pending_payments)],
    [
      'Servers',
      `${row.servers} (${row.suspended_servers} suspended, ${row.held_servers} under a legal hold)`,
    ],
    ['Storage', `${counted(row.volumes, 'volume')}, ${counted(row.snapshots, 'snapshot')}`],
    ['Access', `${counted(row.sessions, 'session')}, ${counted(row.tokens, 'API token')}`],
  ]);
}

function acts({ forms, customer, may }: Parameters<typeof customerView>[0]): Html | null {
  const freeze = customer.frozen_at === null ? 'freeze' : 'unfreeze';
  const credit = new Fields(forms, 'credit');
  const shown = [
    may.credit &&
      actForm(
        forms,
        { name: 'credit', title: 'Credit the balance', button: 'Credit' },
        html`${credit.text('amount_usd', 'Amount in US dollars', {
          required: true,
          inputmode: 'decimal',
          size: 12,
        })}
${credit.text('description', 'Description', {
  required: true,
  maxLength: 200,
  hint: 'The customer reads it in the ledger.',
})}
${reasonField(credit)}`,
      ),
    may.freeze &&
      actForm(
        forms,
        {
          name: freeze,
          title: freeze === 'freeze' ? 'Freeze the account' : 'Lift the freeze',
          button: freeze === 'freeze' ? 'Freeze account' : 'Lift freeze',
          ...(freeze === 'freeze' && { danger: true }),
        },
        html`<p>A frozen customer can view everything and change nothing. Servers keep running.</p>
${reasonField(new Fields(forms, freeze))}`,
      ),
    may.disableTotp &&
      customer.totp_since !== null &&
      actForm(
        forms,
        { name: 'disable_totp', title: 'Turn off one-time codes', button: 'Turn off', danger: true },
        html`<p>For a customer who lost both their phone and their recovery code. We notify them by email.</p>
${reasonField(new Fields(forms, 'disable_totp'))}`,
      ),
  ];
  return shown.some(Boolean) ? section('Actions', shown) : null;
}
