/** One customer as staff see them, with what belongs to them. */
import type { LedgerEntry } from '../../spec/schemas/balance.ts';
import { buttonLink, detailList, section, table, time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { usd } from '../parts/format.ts';
import { type Html, type HtmlValue, html } from '../parts/html.ts';
import { part } from '../parts/live.ts';
import { customerPath, customerState, tagLink } from './customers.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { counted, UPDATES_EVERY_S } from './parts.ts';
import { roomTable, type Shown } from './room.ts';
import { type RoomForm, roomForm } from './room-form.ts';

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
  /** Those that are open, and all of the last 180 days. */
  readonly abuse_reports: { readonly open: number; readonly recent: number };
  readonly servers: number;
  readonly suspended_servers: number;
  readonly held_servers: number;
  readonly volumes: number;
  readonly snapshots: number;
  readonly sessions: number;
  readonly tokens: number;
  readonly tags: readonly string[];
}

export interface StaffNote {
  readonly id: string;
  readonly text: string;
  readonly author: string | null;
  readonly created_at: string;
}

export interface CustomerLimit {
  readonly name: string;
  readonly title: string;
  readonly limit: number;
  /** Null: that of the service applies. */
  readonly own: number | null;
  readonly service: number;
}

export interface CustomerServer {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly plan: string;
  readonly ipv4: string | null;
  readonly paid_until: string | null;
}

export interface CustomerTopup {
  readonly id: string;
  readonly order_ref: string;
  readonly status: string;
  readonly amount_usd: number;
  readonly credited_usd: number;
  readonly bonus_usd: number;
  readonly created_at: string;
}

/** The beginning of a list of the customer, and the path of all of it. */
interface Excerpt<Item> {
  readonly items: readonly Item[];
  readonly path: string;
}

const SERVER_COLUMNS: readonly Shown<CustomerServer>[] = [
  { name: 'Server', value: ({ name }) => name, link: ({ id }) => serverPath(id) },
  { name: 'Status', value: ({ status }) => status, as: 'state', tones: { running: 'good', error: 'bad' } },
  { name: 'Plan', value: ({ plan }) => plan },
  { name: 'IPv4', value: ({ ipv4 }) => ipv4 },
  { name: 'Paid until', value: (row) => row.paid_until, as: 'time' },
];

const TOPUP_COLUMNS: readonly Shown<CustomerTopup>[] = [
  { name: 'Order', value: (row) => row.order_ref, link: ({ id }) => topupPath(id) },
  { name: 'Status', value: ({ status }) => status, as: 'state', tones: { credited: 'good' } },
  { name: 'Requested', value: (row) => row.amount_usd, as: 'usd' },
  { name: 'Credited', value: (row) => row.credited_usd + row.bonus_usd, as: 'usd' },
  { name: 'Created', value: (row) => row.created_at, as: 'time' },
];

const LEDGER_COLUMNS: readonly Shown<LedgerEntry>[] = [
  { name: 'Booked', value: (row) => row.created_at, as: 'time' },
  { name: 'Type', value: ({ type }) => type },
  { name: 'Description', value: ({ description }) => description },
  { name: 'Resource', value: ({ resource }) => resource, link: ({ resource }) => resourcePath(resource) },
  { name: 'Amount', value: (row) => row.amount_usd, as: 'usd' },
  { name: 'Balance', value: (row) => row.balance_after_usd, as: 'usd' },
];

function serverPath(id: string): string {
  return `${CONSOLE_PATHS.servers}/${encodeURIComponent(id)}`;
}

function topupPath(id: string): string {
  return `${CONSOLE_PATHS.topups}/${encodeURIComponent(id)}`;
}

function resourcePath(id: string | null): string | null {
  if (id === null) return null;
  return id.startsWith('top_') ? topupPath(id) : serverPath(id);
}

const LIMIT_COLUMNS: readonly Shown<CustomerLimit>[] = [
  { name: 'Limit', value: ({ title }) => title },
  { name: 'Applies', value: ({ limit }) => limit, as: 'number' },
  { name: 'Own', value: ({ own }) => own, as: 'number' },
  { name: 'Service', value: ({ service }) => service, as: 'number' },
];

/** `/customers/cus_…/limits`. */
export function limitsPath(id: string): string {
  return `${customerPath(id)}/limits`;
}

/** `/customers/cus_…/view`. */
export function viewPath(id: string): string {
  return `${customerPath(id)}/view`;
}

/** `/customers/cus_…/ledger`. */
export function ledgerPath(id: string): string {
  return `${customerPath(id)}/ledger`;
}

export function customerView(data: {
  readonly forms: FormContext;
  readonly customer: CustomerFacts;
  readonly servers: Excerpt<CustomerServer>;
  readonly topups: Excerpt<CustomerTopup>;
  readonly ledger: Excerpt<LedgerEntry>;
  readonly notes: readonly StaffNote[];
  readonly mayDeleteNotes: boolean;
  readonly acts: readonly RoomForm[];
}): ConsoleView {
  const { customer, acts } = data;
  const query = `customer=${encodeURIComponent(customer.email)}`;
  return {
    title: customer.email,
    section: 'customers',
    breadcrumbs: [['Customers', CONSOLE_PATHS.customers]],
    status: customerState({ frozen: customer.frozen_at !== null, deleting: customer.deleting_at !== null }),
    facts: [`${usd(customer.balance_usd)} balance`, counted(customer.servers, 'server')],
    updatesEveryS: UPDATES_EVERY_S,
    body: html`<p class="page-actions">${buttonLink('View as customer', viewPath(customer.id), 'plain')}
${buttonLink('Limits', limitsPath(customer.id), 'plain')}
${buttonLink('Audit log', `${CONSOLE_PATHS.audit}?${query}`, 'plain')}
${buttonLink('Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(customer.id)}`, 'plain')}</p>
${part('details', facts(customer))}
${part('notes', data.notes.length > 0 && section('Notes', notesList(data)))}
${part('servers', excerpt('Servers', 'servers', SERVER_COLUMNS, data.servers))}
${part('topups', excerpt('Top-ups', 'top-ups', TOPUP_COLUMNS, data.topups))}
${part('ledger', excerpt('Ledger', 'ledger entries', LEDGER_COLUMNS, data.ledger))}
${part(
  'acts',
  acts.length > 0 &&
    section(
      'Actions',
      acts.map((act) => roomForm(data.forms, act)),
    ),
)}`,
  };
}

function notesList({
  forms,
  notes,
  mayDeleteNotes,
}: Pick<Parameters<typeof customerView>[0], 'forms' | 'notes' | 'mayDeleteNotes'>): Html {
  const remove = (id: string) =>
    form(
      forms,
      { name: 'customers.delete_note', key: id, class: 'inline' },
      html`<button class="quiet">Delete</button>`,
    );
  return table({
    caption: 'Notes, newest first',
    columns: ['Written', 'By', 'Note', ...(mayDeleteNotes ? [''] : [])],
    rows: notes.map((note) => [
      time(note.created_at),
      note.author ?? '–',
      html`<span class="lines">${note.text}</span>`,
      ...(mayDeleteNotes ? [remove(note.id)] : []),
    ]),
  });
}

function excerpt<Item>(
  title: string,
  many: string,
  columns: readonly Shown<Item>[],
  { items, path }: Excerpt<Item>,
): Html {
  const content = html`${roomTable(title, columns, items)}
<p>${buttonLink(`All ${many}`, path, 'plain')}</p>`;
  return section(title, items.length === 0 ? html`<p>There are no ${many}.</p>` : content);
}

function facts(row: CustomerFacts): Html {
  return detailList([
    ['ID', html`<code class="copy" data-copy>${row.id}</code>`],
    ['Tags', row.tags.length > 0 && row.tags.map((tag) => html`${tagLink(tag)} `)],
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
    ['Abuse reports', abuseReports(row)],
    ['Access', `${counted(row.sessions, 'session')}, ${counted(row.tokens, 'API token')}`],
  ]);
}

function abuseReports({ id, abuse_reports: { open, recent } }: CustomerFacts): HtmlValue {
  if (open + recent === 0) return 'none';
  const path = `${CONSOLE_PATHS.abuse}?customer=${encodeURIComponent(id)}`;
  return html`<a href="${path}">${open} open, ${recent} in 180 days</a>`;
}

/** All entries, latest booking first. */
export function ledgerView(data: {
  readonly customer: CustomerFacts;
  readonly entries: readonly LedgerEntry[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
}): ConsoleView {
  const { customer, entries, next } = data;
  return {
    title: 'Ledger',
    section: 'customers',
    breadcrumbs: trailOf(customer),
    facts: [`${usd(customer.balance_usd)} balance`],
    body: html`${
      entries.length === 0
        ? html`<p>There are no ledger entries.</p>`
        : roomTable('Ledger, latest entry first', LEDGER_COLUMNS, entries)
    }
${next && html`<p>${buttonLink('Older entries', next, 'plain')}</p>`}`,
  };
}

/** The limits of the account, and the form that changes them. */
export function limitsView(data: {
  readonly forms: FormContext;
  readonly customer: CustomerFacts;
  readonly limits: readonly CustomerLimit[];
  readonly acts: readonly RoomForm[];
}): ConsoleView {
  return {
    title: 'Limits',
    section: 'customers',
    breadcrumbs: trailOf(data.customer),
    body: html`${roomTable('Limits of the account', LIMIT_COLUMNS, data.limits)}
${data.acts.map((act) => roomForm(data.forms, act))}`,
  };
}

/** The parents of a page below the customer's. */
export function trailOf({ id, email }: CustomerFacts): NonNullable<ConsoleView['breadcrumbs']> {
  return [
    ['Customers', CONSOLE_PATHS.customers],
    [email, customerPath(id)],
  ];
}
