/** Power actions on several servers of the list: the buttons, the question, and each server's result. */
import { PANEL_PATHS, serverPagePath } from '../../spec/paths.ts';
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
export const BULK_ACTIONS = { start: 'Power on', reboot: 'Restart', stop: 'Shut down' } as const;
export type BulkAction = keyof typeof BULK_ACTIONS;

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

export function bulkButtons(): Html {
  const buttons = Object.entries(BULK_ACTIONS).map(
    ([action, title]) => html`<button class="plain" name="bulk" value="${action}">${title}…</button> `,
  );
  return html`<p class="row bulk"><span>Selected servers:</span> ${buttons}</p>`;
}

/** Asks before anything happens. Powering on asks too: a selection is easily wrong. */
export function bulkView(action: BulkAction, servers: readonly Server[], forms: FormContext): View {
  const title = BULK_ACTIONS[action];
  const count = servers.length === 1 ? '1 server' : `${servers.length} servers`;
  const label = labelsOf(servers);
  const rows = servers.map((server) => [
    html`<a href="${serverPagePath(server.id)}">${label(server)}</a>`,
    serverStatusBadge(server.status),
  ]);
  const boxes = servers.map(({ id }) => html`<input type="hidden" name="${BULK_BOX}.${id}" value="on">\n`);
  const consequence =
    POWER_CUTS.find(({ name }) => name === action)?.consequence ??
    'Powers the servers on. A server that must be paid for first stays off.';
  return {
    title: `${title} ${count}?`,
    section: 'servers',
    breadcrumbs: [['Servers', PANEL_PATHS.servers]],
    body: html`<p>${consequence}</p>
${table({ caption: 'Selected servers', columns: ['Name', 'Status'], rows })}
${form(
  forms,
  { name: action, action: PANEL_PATHS.servers },
  html`${boxes}<button>${title} ${count}</button>`,
)}
<p><a href="${PANEL_PATHS.servers}">Cancel</a></p>`,
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
