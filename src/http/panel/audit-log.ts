/** The audit log. */
import { getAuditEvent, listAuditEvents } from '../../domain/audit/find.ts';
import { auditEventView, auditLogView } from '../../panel/audit-log.ts';
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import type { Form } from '../form.ts';
import { moment } from './fields.ts';
import { readList } from './list.ts';
import type { PanelPage } from './page.ts';

const PAGE_ROWS = 50;

/** Times as they are typed into the page's fields, too. */
function withMoments(query: Form): Form {
  const times = ['from', 'to'].flatMap((name) => {
    const time = moment(query, name);
    return typeof time === 'string' ? [[name, time] as const] : [];
  });
  return new Map([...query, ...times]);
}

export const AUDIT_PAGES: readonly PanelPage[] = [
  {
    path: ACCOUNT_PATHS.audit,
    access: 'customer',
    shows: ['audit_events.list'],
    show: async (look) => {
      const asked = { ...look, query: withMoments(look.query) };
      const list = await readList(
        asked,
        'audit_events.list',
        (page) => listAuditEvents(look.service, look.customer(), page),
        { size: PAGE_ROWS },
      );
      const { items: events, filter, first, next } = list;
      return auditLogView({ events, filter, first, next, forms: look.forms });
    },
  },
  {
    path: `${ACCOUNT_PATHS.audit}/{id}`,
    access: 'customer',
    shows: ['audit_events.get'],
    show: async (look) =>
      auditEventView(await getAuditEvent(look.service, look.customer(), look.params.id ?? '')),
  },
];
