/** The list of servers. */
import { listCatalogueNames } from '../../../domain/catalogue/offers.ts';
import { findClosure } from '../../../domain/rules/rules.ts';
import { listServers } from '../../../domain/servers/read.ts';
import { type BulkResult, bulkView } from '../../../panel/servers/bulk.ts';
import { serversView } from '../../../panel/servers/list.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import { readList } from '../list.ts';
import type { PageContext, PanelPage } from '../page-types.ts';
import { BULK_FORMS, readBulkQuestion } from './bulk.ts';

export const SERVER_LIST_PAGE: PanelPage = {
  path: PANEL_PATHS.servers,
  access: 'customer',
  readOperations: ['servers.list'],
  render: async (context) => {
    const { service, shown } = context;
    const question = shown === null ? await readBulkQuestion(context) : null;
    if (question) return bulkView(question.action, question.servers, context.forms);
    const size = sizeOf(context);
    const [list, names, rules] = await Promise.all([
      readList(context, 'servers.list', (page) => listServers(service, context.customer(), page), {
        size,
        sorts: true,
      }),
      listCatalogueNames(service),
      context.edge.rules.read(),
    ]);
    const sized = (link: string | null) => link && withSize(link, size);
    return serversView({
      servers: list.items,
      filter: list.filter,
      sort: list.sort,
      results: shown && (JSON.parse(shown.texts.results ?? '[]') as readonly BulkResult[]),
      next: sized(list.next),
      first: sized(list.first),
      ...names,
      closed: findClosure(rules, 'servers.create', service.clock.now())?.message ?? null,
    });
  },
  forms: BULK_FORMS,
};

/** `?size=100` shows more servers per page. */
function sizeOf({ query }: PageContext): number {
  const size = Number(field(query, 'size'));
  return Number.isInteger(size) && size >= 1 && size <= LIMITS.pageSizeMax ? size : LIMITS.pageSizeDefault;
}

function withSize(link: string, size: number): string {
  return size === LIMITS.pageSizeDefault ? link : `${link}${link.includes('?') ? '&' : '?'}size=${size}`;
}
