/** The audit log. */
import { getAuditEvent, listAuditEvents } from '../../../domain/audit/read.ts';
import { ACTIONS } from '../../../spec/actions.ts';
import { BY_AGE } from '../../../spec/lists.ts';
import { AuditEvent } from '../../../spec/schemas/audit-event.ts';
import { listRoute, type Route, route } from '../route.ts';

export const AUDIT_ROUTES: readonly Route[] = [
  listRoute({
    id: 'audit_events.list',
    path: '/audit/events',
    scope: 'read',
    summary: 'List audit events',
    description: 'Lists every authenticated request of the last 90 days that changed something or tried to.',
    list: {
      ...BY_AGE,
      plainFilters: true,
      filters: {
        action: { allowed: ACTIONS },
        resource: { about: 'The id of the affected resource.' },
        from: { type: 'time', about: 'Only events at or after this time.' },
        to: { type: 'time', about: 'Only events before this time.' },
      },
    },
    reply: AuditEvent,
    run: ({ service, actor, page }) => listAuditEvents(service, actor, page),
  }),
  route({
    id: 'audit_events.get',
    method: 'GET',
    path: '/audit/events/{id}',
    scope: 'read',
    summary: 'Retrieve an audit event',
    reply: AuditEvent,
    run: ({ service, actor, params }) => getAuditEvent(service, actor, params.id),
  }),
];
