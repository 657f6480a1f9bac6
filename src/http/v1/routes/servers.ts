/** Servers as a resource. Actions on a server are in server-actions.ts. */
import { createServer } from '../../../domain/servers/deploy/create.ts';
import { getMetrics } from '../../../domain/servers/metrics.ts';
import { setRdns } from '../../../domain/servers/rdns.ts';
import { getServer, listServers } from '../../../domain/servers/read.ts';
import { patchServer } from '../../../domain/servers/update.ts';
import { BY_AGE_OR_NAME, BY_LABEL } from '../../../spec/lists.ts';
import { RdnsBody, Server, ServerBody, ServerPatch } from '../../../spec/schemas/server.ts';
import { Metrics, MetricsQuery } from '../../../spec/schemas/server-actions.ts';
import { SERVER_STATUSES } from '../../../spec/states.ts';
import { listRoute, type Route, route } from '../route.ts';

export const SERVER_ROUTES: readonly Route[] = [
  listRoute({
    id: 'servers.list',
    path: '/servers',
    scope: 'read',
    summary: 'List servers',
    list: {
      ...BY_AGE_OR_NAME,
      filters: {
        status: { allowed: SERVER_STATUSES },
        region: {},
        plan: {},
        image: {},
        name: {},
        tag: { about: 'A tag of the server.' },
        ...BY_LABEL,
      },
    },
    reply: Server,
    run: ({ service, actor, page }) => listServers(service, actor, page),
  }),
  route({
    id: 'servers.create',
    method: 'POST',
    path: '/servers',
    scope: 'write',
    summary: 'Create a server',
    description:
      'Charges the first cycle and starts provisioning. `ipv4` and `ipv6` are null until the server is ' +
      '`running`, which typically takes 60 to 120 seconds.',
    status: 201,
    errorStatuses: [409, 422],
    audit: 'server.create',
    starts: 'server.create',
    bucket: 'provision',
    body: ServerBody,
    example: {
      name: 'web-1',
      plan: 's1',
      region: 'par',
      image: 'img_aaaqk3m7qzb5x2l6v4t7n8wyja',
      ssh_keys: ['k_aaaqk3m7qzb5x2l6v4t7n8wyja'],
      tags: ['web'],
      labels: { env: 'prod' },
      billing_months: 3,
    },
    reply: Server,
    run: ({ service, actor, body }) => createServer(service, actor, body),
  }),
  route({
    id: 'servers.get',
    method: 'GET',
    path: '/servers/{id}',
    scope: 'read',
    summary: 'Retrieve a server',
    reply: Server,
    run: ({ service, actor, params }) => getServer(service, actor, params.id),
  }),
  route({
    id: 'servers.update',
    method: 'PATCH',
    path: '/servers/{id}',
    scope: 'write',
    summary: 'Update a server',
    description:
      'Replaces `tags` and `labels` as a whole; `protection` changes only the members that it names. If ' +
      'you turn `auto_renew` off, a server that is suspended for insufficient balance no longer resumes ' +
      'automatically. `boot` starts an action: wait for it before you reboot the server.',
    errorStatuses: [409, 422],
    audit: 'server.update',
    starts: 'server.set_boot',
    body: ServerPatch,
    example: { name: 'web-2', tags: ['web', 'prod'] },
    reply: Server,
    run: ({ service, actor, params, body }) => patchServer(service, actor, params.id, body),
  }),
];

/** After the actions, as in the table in SPEC. */
export const SERVER_DETAIL_ROUTES: readonly Route[] = [
  route({
    id: 'servers.metrics',
    method: 'GET',
    path: '/servers/{id}/metrics',
    scope: 'read',
    summary: 'Retrieve the metrics of a server',
    description: 'Hourly averages of 30 days. With `step_s` 300: of 48 hours, with 60: of 6 hours.',
    query: MetricsQuery,
    reply: Metrics,
    run: ({ service, actor, params, query }) => getMetrics(service, actor, params.id, query.step_s),
  }),
  route({
    id: 'servers.set_rdns',
    method: 'POST',
    path: '/servers/{id}/rdns',
    scope: 'write',
    summary: 'Set reverse DNS',
    description:
      'Sets the host name of the IPv4 address, of one address in the /64, or of both. Null removes one.',
    errorStatuses: [409, 422],
    audit: 'server.set_rdns',
    body: RdnsBody,
    example: { ipv4: 'web.example.org', ipv6: 'web.example.org' },
    reply: Server,
    run: ({ service, actor, params, body }) => setRdns(service, actor, params.id, body),
  }),
];
