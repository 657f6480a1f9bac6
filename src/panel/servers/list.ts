/** The list of servers. */
import { DEPLOY_PATH, PANEL_PATHS, serverPagePath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { SERVER_STATUSES } from '../../spec/states.ts';
import { listFilterForm } from '../parts/compact-forms.ts';
import { buttonLink, day, emptyState, pager, table } from '../parts/components.ts';
import { Html, type HtmlValue, html } from '../parts/html.ts';
import { labelFilterField } from '../parts/label-fields.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { progressBar } from './actions.ts';
import { BULK_BOX, type BulkResult, bulkButtons, bulkResults } from './bulk.ts';
import { formatCyclePrice, serverStatusBadge } from './format.ts';

interface ServersData {
  /** By `name`, `created_at`, or one of them with a minus sign in front. */
  readonly sort: string;
  /** The outcome of a form for the selected servers. */
  readonly results: readonly BulkResult[] | null;
  readonly servers: readonly Server[];
  /** The current filters. */
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  /** Region names by code, and the plan codes, to filter by. */
  readonly regions: Readonly<Record<string, string>>;
  readonly plans: readonly string[];
  /** Why ordering is closed, or null. */
  readonly closed: string | null;
}

export function serversView(data: ServersData): View {
  const { servers, filter, closed } = data;
  const filtered = Object.keys(filter).length > 0 || data.first !== null;
  if (servers.length === 0 && !filtered) return serversPage(null, part('list', emptyServerList(closed)));
  return serversPage(
    closed === null ? buttonLink('Deploy server', DEPLOY_PATH) : null,
    html`${data.results && bulkResults(data.results)}
${closed && html`<p class="banner warn">New servers are unavailable right now. ${closed}</p>`}
${filterForm(data)}
${part(
  'list',
  servers.length > 0
    ? serversTable(data)
    : emptyState('No matching servers.', html`<a href="${PANEL_PATHS.servers}">Clear filters</a>`),
)}
${pager(data)}`,
  );
}

function serversPage(actions: Html | null, body: Html): View {
  const header = actions && { header: { actions } };
  return { title: 'Servers', section: 'servers', live: ['srv_'], ...header, body };
}

function emptyServerList(closed: string | null): Html {
  const title = 'You have no servers yet.';
  return closed
    ? emptyState(title, `New servers are unavailable right now. ${closed}`)
    : emptyState(
        title,
        'Your server is ready a minute or two after you order it.',
        buttonLink('Deploy server', DEPLOY_PATH),
      );
}

function serversTable(data: ServersData): Html {
  const { servers, regions } = data;
  const label = labelsOf(servers);
  const rows = servers.map((server): HtmlValue[] => [
    html`<input type="checkbox" name="${BULK_BOX}.${server.id}" aria-label="Select ${label(server)}">
<a href="${serverPagePath(server.id)}">${label(server)}</a>`,
    html`${serverStatusBadge(server.status)}${server.action && html`<br>${progressBar(server.action)}`}`,
    regions[server.region] ?? server.region,
    server.plan,
    server.ipv4 ? html`<code>${server.ipv4.address}</code>` : '–',
    day(server.created_at),
    day(server.paid_until),
    formatCyclePrice(server),
    html`<a href="${serverPagePath(server.id)}#power"
aria-label="Power and console of ${label(server)}">Power</a>`,
  ]);
  const list = table({
    caption: 'Servers',
    columns: [
      ...['Name', 'Status', 'Region', 'Plan', 'IPv4', 'Created', 'Paid until'],
      { name: 'Price', class: 'number' },
      { name: 'Actions', class: 'actions' },
    ],
    rows,
  });
  return html`${sortLinks(data)}
<form method="get" action="${PANEL_PATHS.servers}">
${list}
${bulkButtons()}</form>`;
}

const SORTS = [
  ['-created_at', 'Newest first'],
  ['created_at', 'Oldest first'],
  ['name', 'Name, A to Z'],
  ['-name', 'Name, Z to A'],
] as const;

/** Links that sort the list. They keep its filters. */
function sortLinks({ sort, filter }: ServersData): Html {
  const links = SORTS.map(([word, title]) => {
    const query = new URLSearchParams({ ...filter, sort: word }).toString();
    const current = word === sort && new Html(' aria-current="true"');
    return html`<a href="${PANEL_PATHS.servers}?${query}"${current}>${title}</a> `;
  });
  return html`<p class="sorts"><span class="soft">Sort:</span> ${links}</p>`;
}

function filterForm({ filter, regions, plans }: ServersData): Html {
  const { status = '', region = '', plan = '', tag = '', name = '' } = filter;
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const);
  const any = ['', 'Any'] as const;
  return listFilterForm(
    PANEL_PATHS.servers,
    filter,
    (fields) => html`${fields.select('status', 'Status', {
      value: status,
      choices: [any, ...same(SERVER_STATUSES)],
    })}
${fields.select('region', 'Region', { value: region, choices: [any, ...Object.entries(regions)] })}
${fields.select('plan', 'Plan', { value: plan, choices: [any, ...same(plans)] })}
${fields.text('tag', 'Tag', { value: tag, size: 12 })}
${labelFilterField(fields, filter)}
${fields.text('name', 'Name', { type: 'search', value: name, size: 16 })}`,
  );
}
