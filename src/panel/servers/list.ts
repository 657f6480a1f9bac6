/** The list of servers. */
import { DEPLOY_PATH, PANEL_PATHS } from '../../spec/paths.ts';
import { SERVER_STATUSES } from '../../spec/states.ts';
import { listFilterForm } from '../parts/compact-forms.ts';
import { buttonLink, emptyState, pager } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import { labelFilterField } from '../parts/label-fields.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { type BulkAction, type BulkResult, bulkForm, bulkResults, emptySelection } from './bulk.ts';
import { type KeptOrder, keptOrders } from './kept-orders.ts';
import { addressesLink, type ListTable, serverTable } from './list-table.ts';
import { type SavedFilter, savedFilters } from './saved-filters.ts';

interface ServersData extends ListTable {
  /** The outcome of a form for the selected servers. */
  readonly results: readonly BulkResult[] | null;
  /** The action that was chosen without a selection, or null. */
  readonly unselected: BulkAction | null;
  /** The current filters. */
  readonly filter: Readonly<Record<string, string>>;
  /** Those that the customer can continue. */
  readonly orders: readonly KeptOrder[];
  readonly saved: readonly SavedFilter[];
  readonly next: string | null;
  readonly first: string | null;
  /** The plan codes, to filter by. */
  readonly plans: readonly string[];
  /** Why ordering is closed, or null. */
  readonly closed: string | null;
}

export function serversView(data: ServersData): View {
  const { servers, filter, closed, results, unselected } = data;
  const kept = keptOrders(data.orders);
  const filtered = Object.keys(filter).length > 0 || data.first !== null;
  if (servers.length === 0 && !filtered)
    return serversPage(null, html`${kept}${part('list', emptyServerList(closed))}`);
  return serversPage(
    closed === null ? buttonLink('Deploy server', DEPLOY_PATH) : null,
    html`${kept}${results && bulkResults(results)}${unselected && emptySelection(unselected)}
${closed && html`<p class="banner warn">New servers are unavailable right now. ${closed}</p>`}
${savedFilters(data)}
${filterForm(data)}
${part(
  'list',
  servers.length > 0
    ? serverTable(data)
    : emptyState('No matching servers.', html`<a href="${PANEL_PATHS.servers}">Clear filters</a>`),
)}
${servers.length > 0 && html`${bulkForm(data.state)}<p>${addressesLink(data)}</p>`}
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

/** Keeps the sort order and the size of the page. */
function filterForm({ filter, regions, plans, state }: ServersData): Html {
  const { status = '', region = '', plan = '', tag = '', name = '' } = filter;
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const);
  const any = ['', 'Any'] as const;
  const kept = (['sort', 'size'] as const).flatMap((word) =>
    state[word] === undefined ? [] : html`<input type="hidden" name="${word}" value="${state[word]}">\n`,
  );
  return listFilterForm(
    PANEL_PATHS.servers,
    filter,
    (fields) => html`${kept}${fields.select('status', 'Status', {
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
