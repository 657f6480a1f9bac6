/** The audit log pages. */
import { getAuditEvent, listAuditEvents } from '../../../domain/audit/read.ts';
import { auditEventView, auditLogView } from '../../../panel/account/audit-log.ts';
import { ACCOUNT_PATHS } from '../../../spec/paths.ts';
import type { AuditEvent } from '../../../spec/schemas/audit-event.ts';
import type { Form } from '../../form.ts';
import { dateTime } from '../field-readers.ts';
import { readList } from '../list.ts';
import { type PageContext, type PanelPage, page } from '../page-types.ts';

const PAGE_ROWS = 50;
const LATEST_ROWS = 5;

/** Accepts times in the format of the page's fields as well. */
function withParsedTimes(query: Form): Form {
  const times = ['from', 'to'].flatMap((name) => {
    const time = dateTime(query, name);
    return typeof time === 'string' ? [[name, time] as const] : [];
  });
  return new Map([...query, ...times]);
}

/** The latest changes of a resource. */
export async function readLatestChanges(
  { service, customer }: PageContext,
  resource: string,
): Promise<readonly AuditEvent[]> {
  const request = {
    filter: { resource },
    sort: 'created_at',
    descending: true,
    after: null,
    size: LATEST_ROWS,
  };
  return (await listAuditEvents(service, customer(), request)).items;
}

export const AUDIT_PAGES: readonly PanelPage[] = [
  {
    path: ACCOUNT_PATHS.audit,
    access: 'customer',
    readOperations: ['audit_events.list'],
    render: async (context) => {
      const listContext = { ...context, query: withParsedTimes(context.query) };
      const list = await readList(
        listContext,
        'audit_events.list',
        (page) => listAuditEvents(context.service, context.customer(), page),
        { size: PAGE_ROWS },
      );
      const { items: events, filter, first, next } = list;
      return auditLogView({ events, filter, first, next, forms: context.forms });
    },
  },
  page({
    path: `${ACCOUNT_PATHS.audit}/{id}`,
    access: 'customer',
    readOperations: ['audit_events.get'],
    render: async (look) =>
      auditEventView(await getAuditEvent(look.service, look.customer(), look.params.id)),
  }),
];
