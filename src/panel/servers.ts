/** The list of servers. */
import { DEPLOY_PATH, PANEL_PATHS, serverPartPath } from '../spec/paths.ts';
import type { Server } from '../spec/schemas/server.ts';
import { SERVER_STATUSES } from '../spec/states.ts';
import { page as barePage } from './bare-layout.ts';
import { type Html, html, type Value } from './html.ts';
import type { View } from './layout.ts';
import { day, empty, pager, table } from './parts.ts';
import { cyclePrice, serverState } from './server-words.ts';

export interface ServersData {
  readonly servers: readonly Server[];
  /** What it was filtered by. */
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  /** Names of regions by their code, and codes of plans. */
  readonly regions: Readonly<Record<string, string>>;
  readonly plans: readonly string[];
  /** Why no server can be ordered now; null when one can. */
  readonly closed: string | null;
}

export function serversView(data: ServersData): View {
  const { servers, filter, closed } = data;
  const filtered = Object.keys(filter).length > 0 || data.first !== null;
  const order = closed
    ? html`<p class="banner warn">No new servers now. ${closed}</p>`
    : html`<p><a class="button" href="${DEPLOY_PATH}">Deploy a server</a></p>`;
  if (servers.length === 0 && !filtered) return page(html`${nothingYet(closed)}`);
  return page(html`${order}
${filters(data)}
${servers.length > 0 ? list(data) : empty('No server is like that.', html`<a href="${PANEL_PATHS.servers}">Show all servers</a>`)}
${pager(data)}`);
}

function page(body: Html): View {
  return { title: 'Servers', section: 'servers', body };
}

function nothingYet(closed: string | null): Html {
  const what = 'You have no servers yet.';
  return closed
    ? empty(what, `No new servers now. ${closed}`)
    : empty(
        what,
        html`One is ready a minute or two after it is ordered. <a href="${DEPLOY_PATH}">Deploy a server</a>`,
      );
}

function list({ servers, regions }: ServersData): Html {
  const rows = servers.map((server): Value[] => [
    html`<a href="${serverPartPath(server.id)}">${server.name}</a>`,
    serverState(server.status),
    regions[server.region] ?? server.region,
    server.plan,
    server.ipv4 ? html`<code>${server.ipv4.address}</code>` : '–',
    day(server.paid_until),
    cyclePrice(server),
  ]);
  return table({
    caption: 'Servers',
    columns: [
      ...['Name', 'Status', 'Region', 'Plan', 'IPv4', 'Paid until'],
      { name: 'Price', class: 'number' },
    ],
    rows,
  });
}

/** Sent as the page's own query, so that what is shown can be kept as a bookmark. */
function filters({ filter, regions, plans }: ServersData): Html {
  const field = (name: string, label: string, control: Html) =>
    html`<div class="field"><label for="filter-${name}">${label}</label>${control}</div>\n`;
  const choose = (name: string, label: string, choices: readonly (readonly [string, string])[]) =>
    field(
      name,
      label,
      html`<select id="filter-${name}" name="${name}"><option value="">any</option>${choices.map(([value, text]) => option(value, text, filter[name]))}</select>`,
    );
  const typed = (name: string, label: string) =>
    field(
      name,
      label,
      html`<input id="filter-${name}" name="${name}" size="14" maxlength="63" value="${filter[name]}">`,
    );
  return html`<form method="get" class="filters row" role="search" aria-label="Filter servers">
${choose(
  'status',
  'Status',
  SERVER_STATUSES.map((word) => [word, word]),
)}${choose('region', 'Region', Object.entries(regions))}${choose(
  'plan',
  'Plan',
  plans.map((plan) => [plan, plan]),
)}${typed('tag', 'Tag')}${typed('name', 'Name')}<button class="plain">Filter</button>
</form>`;
}

function option(value: string, text: string, chosen: string | undefined): Html {
  return value === chosen
    ? html`<option value="${value}" selected>${text}</option>`
    : html`<option value="${value}">${text}</option>`;
}

/** For whoever is not signed in, on the pages that are not of this frame. */
export function signInFirstPage(title: string): string {
  return barePage(
    title,
    html`<p>This page is for the account it belongs to. <a href="${PANEL_PATHS.signIn}">Sign in</a> first.</p>`,
  );
}
