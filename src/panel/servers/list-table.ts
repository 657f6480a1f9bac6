/** The table of the server list: columns that sort, a box to select each server, and a menu per row. */
import { SERVER_ADDRESSES_PATH, serverPagePath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { can } from '../../spec/states.ts';
import { progressBar } from '../parts/activity.ts';
import { copyable, day, table } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { Html, type HtmlValue, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import { BULK_ACTIONS, BULK_BOX, BULK_FORM_ID, type BulkAction, type ListState, listPath } from './bulk.ts';
import { formatCyclePrice, serverStatusBadge } from './format.ts';

export interface ListTable {
  readonly servers: readonly Server[];
  readonly state: ListState;
  /** Such as `-created_at`. */
  readonly sort: string;
  /** The ids of the servers that are ticked. */
  readonly selected: ReadonlySet<string>;
  /** Region names by code. */
  readonly regions: Readonly<Record<string, string>>;
  readonly forms: FormContext;
}

/** The columns that sort the list, with the word for it. */
const SORTED_COLUMNS = {
  Name: 'name',
  Status: 'status',
  Region: 'region',
  Plan: 'plan',
  Created: 'created_at',
  'Paid until': 'paid_until',
} as const;
export const SERVER_SORTS: readonly string[] = Object.values(SORTED_COLUMNS);

const ROW_FORM_ID = 'row-console';

export function serverTable(data: ListTable): Html {
  const label = labelsOf(data.servers);
  const rows = data.servers.map((server) => serverRow(server, label(server), data));
  const sorted = (name: keyof typeof SORTED_COLUMNS) => ({
    name,
    sort: sortLink(SORTED_COLUMNS[name], data),
  });
  const list = table({
    caption: 'Servers',
    columns: [
      ...[sorted('Name'), sorted('Status'), sorted('Region'), sorted('Plan')],
      ...['IPv4', sorted('Created'), sorted('Paid until')],
      { name: 'Price', class: 'number' },
      { name: 'Actions', class: 'actions' },
    ],
    rows,
  });
  // One form for the buttons of all rows. Without one, it would be a form without a button.
  const consoleForm =
    data.servers.some(hasConsole) &&
    form(
      data.forms,
      { name: 'console', action: listPath(data.state), id: ROW_FORM_ID, class: 'inline' },
      html``,
    );
  return html`${list}${consoleForm}`;
}

function hasConsole({ status, suspended_reason: suspendedReason }: Server): boolean {
  return can({ status, suspendedReason }, 'console');
}

/** A second click on the same header reverses the order. Times begin with the newest. */
function sortLink(word: string, { sort, state }: ListTable) {
  const isFirstDescending = word === 'created_at';
  const order = sort === word ? 'ascending' : sort === `-${word}` ? 'descending' : null;
  const isNextDescending = order === null ? isFirstDescending : order === 'ascending';
  const { cursor: _, ...kept } = state;
  const path = listPath({ ...kept, sort: isNextDescending ? `-${word}` : word });
  return { path, order } as const;
}

function serverRow(server: Server, label: string, data: ListTable): readonly HtmlValue[] {
  const { id, status, ipv4, action, region } = server;
  const ticked = data.selected.has(id) && new Html(' checked');
  return [
    html`<input type="checkbox" form="${BULK_FORM_ID}" name="${BULK_BOX}.${id}"
 aria-label="Select ${label}"${ticked}>
<a href="${serverPagePath(id)}">${label}</a>`,
    html`${serverStatusBadge(status)}${action && html`<br>${progressBar(action)}`}`,
    data.regions[region] ?? region,
    server.plan,
    ipv4 ? copyable(ipv4.address) : '–',
    day(server.created_at),
    day(server.paid_until),
    formatCyclePrice(server),
    rowMenu(server, label, data.state),
  ];
}

/** Links to the question of each action that the status allows, and a button for the console. */
function rowMenu(server: Server, label: string, state: ListState): Html {
  const { id, status, suspended_reason: suspendedReason } = server;
  const allows = (action: BulkAction) => can({ status, suspendedReason }, action);
  const power = (Object.keys(BULK_ACTIONS) as BulkAction[]).filter(
    // The question shows no price, so a server that must be paid for is powered on from its own page.
    (action) => allows(action) && server.action === null && status !== 'suspended',
  );
  const links = power.map(
    (bulk) => html`<li><a href="${listPath(state, [id], { bulk })}">${BULK_ACTIONS[bulk]}…</a></li>\n`,
  );
  const openConsole = html`<button class="quiet" form="${ROW_FORM_ID}" name="key" value="${id}">Open console
</button>`;
  const console = hasConsole(server) && html`<li>${openConsole}</li>\n`;
  return html`<details class="drop">
<summary class="button plain" aria-label="Actions for ${label}">Actions</summary>
<ul class="drop-items">
${console}${links}<li><a href="${serverPagePath(id)}">Open server</a></li>
</ul></details>`;
}

/** Leads to the addresses of the whole list, filters included. */
export function addressesLink({ state }: Pick<ListTable, 'state'>): Html {
  const { cursor: _cursor, size: _size, ...kept } = state;
  const query = new URLSearchParams(kept).toString();
  const path = query === '' ? SERVER_ADDRESSES_PATH : `${SERVER_ADDRESSES_PATH}?${query}`;
  return html`<a href="${path}" data-copies>Copy all addresses</a>`;
}
