/** The list of servers. */
import { DEPLOY_PATH, PANEL_PATHS, serverPartPath } from '../spec/paths.ts';
import type { Server } from '../spec/schemas/server.ts';
import { SERVER_STATUSES } from '../spec/states.ts';
import { filters } from './filters.ts';
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
${filterForm(data)}
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

function filterForm({ filter, regions, plans }: ServersData): Html {
  const { status = '', region = '', plan = '', tag = '', name = '' } = filter;
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const);
  const any = ['', 'any'] as const;
  return filters(
    PANEL_PATHS.servers,
    filter,
    (
      fields,
    ) => html`${fields.select('status', 'Status', { value: status, choices: [any, ...same(SERVER_STATUSES)] })}
${fields.select('region', 'Region', { value: region, choices: [any, ...Object.entries(regions)] })}
${fields.select('plan', 'Plan', { value: plan, choices: [any, ...same(plans)] })}
${fields.text('tag', 'Tag', { value: tag, size: 12 })}
${fields.text('name', 'Name', { type: 'search', value: name, size: 16 })}`,
  );
}
