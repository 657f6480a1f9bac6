/** Power actions on servers of the list: the buttons, the question, and each server's result. */
import { PANEL_PATHS, SERVER_ADDRESSES_PATH, serverPagePath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { table } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { serverStatusBadge } from './format.ts';
import { POWER_CUTS } from './power.ts';

/** The boxes of the list are named `server.<id>`. */
export const BULK_BOX = 'server';
/** Set by the button that shows the addresses of the selected servers. */
export const SELECTED_ONLY = 'selected';
export const BULK_ACTIONS = { start: 'Power on', reboot: 'Restart', stop: 'Shut down' } as const;
export type BulkAction = keyof typeof BULK_ACTIONS;
/** The form that the boxes and buttons of the list belong to. It is empty: each row has forms of its own. */
export const BULK_FORM_ID = 'bulk';

/** The state of the list: its filters, sort order, and page, as in its URL. */
export type ListState = Readonly<Record<string, string>>;

const BEGUN: Readonly<Record<BulkAction, string>> = {
  start: 'powering on',
  reboot: 'restarting',
  stop: 'shutting down',
};

export interface BulkResult {
  readonly action: BulkAction;
  readonly id: string;
  readonly name: string;
  /** Why it was refused, or null. */
  readonly refusal: string | null;
}

/** Returns the path of the list as it is, with these servers selected. */
export function listPath(
  state: ListState,
  selected: Iterable<string> = [],
  more: Readonly<Record<string, string>> = {},
): string {
  const boxes = [...selected].map((id): [string, string] => [`${BULK_BOX}.${id}`, 'on']);
  const query = new URLSearchParams([...Object.entries(state), ...boxes, ...Object.entries(more)]).toString();
  return query === '' ? PANEL_PATHS.servers : `${PANEL_PATHS.servers}?${query}`;
}

export function bulkForm(state: ListState): Html {
  const kept = Object.entries(state).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
  );
  const buttons = Object.entries(BULK_ACTIONS).map(
    ([action, title]) => html`<button class="plain" name="bulk" value="${action}">${title}…</button> `,
  );
  return html`<form method="get" action="${PANEL_PATHS.servers}" id="${BULK_FORM_ID}" class="row bulk">
${kept}<span>Selected servers:</span> ${buttons}
<button class="plain" name="${SELECTED_ONLY}" value="yes" formaction="${SERVER_ADDRESSES_PATH}"
 data-copies>Copy addresses</button></form>`;
}

/** Answers a button that was pressed without a selection. */
export function emptySelection(action: BulkAction): Html {
  return html`<p class="banner warn" role="alert">No server is selected. Select at least one in the list, and
choose “${BULK_ACTIONS[action]}” again.</p>`;
}

/** Asks before anything happens. Powering on asks too: a selection is easily wrong. */
export function bulkView(
  action: BulkAction,
  servers: readonly Server[],
  { forms, state }: { readonly forms: FormContext; readonly state: ListState },
): View {
  const title = BULK_ACTIONS[action];
  const count = servers.length === 1 ? '1 server' : `${servers.length} servers`;
  const label = labelsOf(servers);
  const rows = servers.map((server) => [
    html`<a href="${serverPagePath(server.id)}">${label(server)}</a>`,
    serverStatusBadge(server.status),
  ]);
  const ids = servers.map(({ id }) => id);
  const boxes = ids.map((id) => html`<input type="hidden" name="${BULK_BOX}.${id}" value="on">\n`);
  const consequence =
    POWER_CUTS.find(({ name }) => name === action)?.consequence ??
    'Powers the servers on. A server that must be paid for first stays off.';
  return {
    title: `${title} ${count}?`,
    section: 'servers',
    breadcrumbs: [['Servers', listPath(state)]],
    body: html`<p>${consequence}</p>
${table({ caption: 'Selected servers', columns: ['Name', 'Status'], rows })}
${form(forms, { name: action, action: listPath(state) }, html`${boxes}<button>${title} ${count}</button>`)}
<p><a href="${listPath(state, ids)}">Cancel</a></p>`,
  };
}

/** The outcome for each server, above the list. */
export function bulkResults(results: readonly BulkResult[]): Html {
  const items = results.map(
    ({ id, name, action, refusal }) =>
      html`<li><a href="${serverPagePath(id)}">${name}</a>: ${refusal ?? BEGUN[action]}</li>\n`,
  );
  const tone = results.some(({ refusal }) => refusal !== null) ? 'warn' : 'done';
  return html`<div class="banner ${tone}" role="status"><ul>${items}</ul></div>`;
}
