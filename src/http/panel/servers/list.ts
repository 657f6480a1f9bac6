/** The list of servers. */
import { listCatalogueNames } from '../../../domain/catalogue/offers.ts';
import { listSavedFilters } from '../../../domain/customers/preferences.ts';
import { findClosure } from '../../../domain/rules/rules.ts';
import { listServers } from '../../../domain/servers/read.ts';
import { type BulkResult, bulkView } from '../../../panel/servers/bulk.ts';
import { serversView } from '../../../panel/servers/list.ts';
import { SERVER_SORTS } from '../../../panel/servers/list-table.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import { readList } from '../list.ts';
import type { PageContext, PanelPage } from '../page-types.ts';
import { BULK_FORMS, readBulkQuestion } from './bulk.ts';
import { readListState, readSelection } from './list-state.ts';
import { readKeptOrders } from './order-drafts.ts';
import { ROW_CONSOLE_FORM } from './overview.ts';
import { SAVED_FILTER_FORMS } from './saved-filters.ts';

export const SERVER_LIST_PAGE: PanelPage = {
  path: PANEL_PATHS.servers,
  access: 'customer',
  readOperations: ['servers.list'],
  render: async (context) => {
    const { service, shown, query, forms } = context;
    const state = readListState(query);
    const question = shown === null ? await readBulkQuestion(context) : null;
    if (question && question.servers.length > 0)
      return bulkView(question.action, question.servers, { forms, state });
    const size = sizeOf(context);
    const [list, names, rules, saved, orders] = await Promise.all([
      readList(context, 'servers.list', (page) => listServers(service, context.customer(), page), {
        size,
        sorts: SERVER_SORTS,
      }),
      listCatalogueNames(service),
      context.edge.rules.read(),
      listSavedFilters(service, context.customer()),
      readKeptOrders(context),
    ]);
    const sized = (link: string | null) => link && withSize(link, size);
    const results = shown && (JSON.parse(shown.texts.results ?? '[]') as readonly BulkResult[]);
    const refused = results?.filter(({ refusal }) => refusal !== null).map(({ id }) => id);
    return serversView({
      servers: list.items,
      filter: list.filter,
      sort: list.sort,
      state,
      saved,
      orders,
      results,
      selected: new Set(refused ?? readSelection(query)),
      unselected: question?.action ?? null,
      next: sized(list.next),
      first: sized(list.first),
      ...names,
      closed: findClosure(rules, 'servers.create', service.clock.now())?.message ?? null,
      forms,
    });
  },
  forms: { ...BULK_FORMS, ...SAVED_FILTER_FORMS, console: ROW_CONSOLE_FORM },
};

/** `?size=100` shows more servers per page. */
function sizeOf({ query }: PageContext): number {
  const size = Number(field(query, 'size'));
  return Number.isInteger(size) && size >= 1 && size <= LIMITS.pageSizeMax ? size : LIMITS.pageSizeDefault;
}

function withSize(link: string, size: number): string {
  return size === LIMITS.pageSizeDefault ? link : `${link}${link.includes('?') ? '&' : '?'}size=${size}`;
}
