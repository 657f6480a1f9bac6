/** An account as its owner sees it, for staff. Nothing on the page changes anything. */
import { section } from '../parts/components.ts';
import type { FormContext } from '../parts/form.ts';
import { usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { type CustomerFacts, trailOf } from './customer.ts';
import type { ConsoleView } from './layout.ts';
import { counted } from './parts.ts';
import { roomTable, type Shown } from './room.ts';
import { type RoomForm, roomForm } from './room-form.ts';

/** A resource of the customer's API. */
type Resource = Readonly<Record<string, unknown>>;

export interface ViewedAccount {
  readonly email: string;
  readonly balance: { readonly usd: number };
  readonly lists: readonly {
    readonly name: string;
    readonly data: readonly Resource[];
    readonly has_more: boolean;
  }[];
}

/** The first of these that a resource has. */
function firstOf(...names: readonly string[]): Shown<Resource>['value'] {
  return (resource) => {
    const found = names.map((name) => resource[name]).find((value) => value !== undefined && value !== null);
    return found === undefined ? null : String(found);
  };
}

const ID: Shown<Resource> = { name: 'ID', value: firstOf('id') };
const CREATED: Shown<Resource> = { name: 'Created', value: firstOf('created_at'), as: 'time' };

const COLUMNS: readonly Shown<Resource>[] = [
  { name: 'Name', value: firstOf('name', 'url', 'action') },
  ID,
  { name: 'State', value: firstOf('status', 'type', 'result', 'scope') },
  CREATED,
];

/** Where these columns do not fit. */
const OWN_COLUMNS: Readonly<Record<string, readonly Shown<Resource>[]>> = {
  topups: [
    ID,
    { name: 'Status', value: firstOf('status') },
    { name: 'Coin', value: firstOf('coin') },
    { name: 'Requested', value: firstOf('amount_usd'), as: 'usd' },
    CREATED,
  ],
  ledger: [
    CREATED,
    { name: 'Type', value: firstOf('type') },
    { name: 'Description', value: firstOf('description') },
    { name: 'Amount', value: firstOf('amount_usd'), as: 'usd' },
    { name: 'Balance', value: firstOf('balance_after_usd'), as: 'usd' },
  ],
  limits: [
    { name: 'Name', value: firstOf('name') },
    { name: 'Per', value: firstOf('per') },
    { name: 'In use', value: firstOf('used'), as: 'number' },
    { name: 'Limit', value: firstOf('limit'), as: 'number' },
  ],
};

const TITLES: Readonly<Record<string, string>> = {
  ssh_keys: 'SSH keys',
  tokens: 'API tokens',
  topups: 'Top-ups',
  audit_events: 'Audit log',
};

export function accountView(data: {
  readonly forms: FormContext;
  readonly customer: CustomerFacts;
  /** Null until the person gave a reason. */
  readonly viewed: ViewedAccount | null;
  readonly acts: readonly RoomForm[];
}): ConsoleView {
  const { customer, viewed, acts, forms } = data;
  return {
    title: 'View as customer',
    section: 'customers',
    breadcrumbs: trailOf(customer),
    ...(viewed && { facts: [`${usd(viewed.balance.usd)} balance`] }),
    body: viewed
      ? html`${viewed.lists.map(list)}`
      : html`${acts.map((act) => roomForm(forms, act))}
${acts.length === 0 && html`<p>Your role cannot view accounts.</p>`}`,
  };
}

function list({ name, data, has_more: hasMore }: ViewedAccount['lists'][number]): Html {
  const words = name.replace('_', ' ');
  const title = TITLES[name] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  if (data.length === 0) return section(title, html`<p>There are none.</p>`);
  return section(
    title,
    html`${roomTable(title, OWN_COLUMNS[name] ?? COLUMNS, data)}
${hasMore && html`<p>Only the newest ${data.length} are shown.</p>`}
<details class="fold"><summary>${counted(data.length, 'object')} of the API</summary>
<pre tabindex="0">${JSON.stringify(data, null, 2)}</pre></details>`,
  );
}
