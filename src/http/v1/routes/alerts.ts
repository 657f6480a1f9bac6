/** Alerts on metrics of servers. */
import { createAlert, deleteAlert, updateAlert } from '../../../domain/servers/alerts/change.ts';
import { findAlert, listAlerts } from '../../../domain/servers/alerts/read.ts';
import { ALERT_METRIC_NAMES } from '../../../spec/alerts.ts';
import { BY_AGE_OR_NAME } from '../../../spec/lists.ts';
import { Alert, CreateAlert, UpdateAlert } from '../../../spec/schemas/alert.ts';
import { listRoute, type Route, route } from '../route.ts';

export const ALERT_ROUTES: readonly Route[] = [
  listRoute({
    id: 'alerts.list',
    path: '/alerts',
    scope: 'read',
    summary: 'List alerts',
    list: {
      filters: {
        metric: { allowed: ALERT_METRIC_NAMES },
        enabled: { allowed: ['true', 'false'] },
        name: {},
      },
      ...BY_AGE_OR_NAME,
    },
    reply: Alert,
    run: ({ service, actor, page }) => listAlerts(service, actor, page),
  }),
  route({
    id: 'alerts.create',
    method: 'POST',
    path: '/alerts',
    scope: 'write',
    summary: 'Create an alert',
    description:
      'Watches the listed servers, or those with the labels. We evaluate alerts every minute, and send an ' +
      'event and an email when one fires.',
    status: 201,
    errorStatuses: [422],
    audit: 'alert.create',
    body: CreateAlert,
    example: {
      name: 'Busy web servers',
      metric: 'cpu_pct',
      value: 90,
      window: '10m',
      label_selector: 'tier=web',
    },
    reply: Alert,
    run: ({ service, actor, body }) => createAlert(service, actor, body),
  }),
  route({
    id: 'alerts.get',
    method: 'GET',
    path: '/alerts/{id}',
    scope: 'read',
    summary: 'Retrieve an alert',
    reply: Alert,
    run: ({ service, actor, params }) => findAlert(service, actor, params.id),
  }),
  route({
    id: 'alerts.update',
    method: 'PATCH',
    path: '/alerts/{id}',
    scope: 'write',
    summary: 'Update an alert',
    description:
      'If the condition changes, the alert no longer fires until the new condition is met. A disabled ' +
      'alert does not fire.',
    errorStatuses: [422],
    audit: 'alert.update',
    body: UpdateAlert,
    example: { value: 95 },
    reply: Alert,
    run: ({ service, actor, params, body }) => updateAlert(service, actor, params.id, body),
  }),
  route({
    id: 'alerts.delete',
    method: 'DELETE',
    path: '/alerts/{id}',
    scope: 'write',
    summary: 'Delete an alert',
    description: 'If it fires for servers, it is resolved first.',
    status: 204,
    audit: 'alert.delete',
    reply: null,
    run: ({ service, actor, params }) => deleteAlert(service, actor, params.id),
  }),
];
