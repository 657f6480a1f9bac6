/** The audit log. */
import { getAuditEvent, listAuditEvents } from '../../domain/audit/find.ts';
import { ACTIONS } from '../../spec/actions.ts';
import { BY_AGE } from '../../spec/lists.ts';
import { AuditEvent } from '../../spec/schemas/audit-event.ts';
import { listRoute, type Route, route } from './route.ts';

export const AUDIT_ROUTES: readonly Route[] = [
  listRoute({
    id: 'audit_events.list',
    path: '/audit/events',
    scope: 'read',
    summary: 'List audit events',
    description: 'Of the last 90 days: every authenticated request that changed something, or tried to.',
    list: {
      ...BY_AGE,
      plainFilters: true,
      filters: {
        action: { allowed: ACTIONS },
        resource: { about: 'The id of what was acted on or made.' },
        from: { type: 'time', about: 'The earliest time that is shown.' },
        to: { type: 'time', about: 'Only what happened before this time is shown.' },
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
    status: 200,
    errorStatuses: [404],
    reply: AuditEvent,
    run: ({ service, actor, params }) => getAuditEvent(service, actor, params.id ?? ''),
  }),
];
