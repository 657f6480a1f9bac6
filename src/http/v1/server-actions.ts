/** What is done to a server. Each answers at once; its event says when it is done. */
import { destroyServer } from '../../domain/servers/destroy.ts';
import { rebootServer, startServer, stopServer } from '../../domain/servers/power.ts';
import { rebuildServer } from '../../domain/servers/rebuild.ts';
import { rescueServer } from '../../domain/servers/rescue.ts';
import { restoreServer } from '../../domain/servers/restore.ts';
import { Server } from '../../spec/schemas/server.ts';
import { RebootQuery, RebuildBody, RescuedServer, RestoreBody } from '../../spec/schemas/server-actions.ts';
import { type Route, route } from './route.ts';

export const SERVER_ACTION_ROUTES: readonly Route[] = [
  route({
    id: 'servers.delete',
    method: 'DELETE',
    path: '/servers/{id}',
    scope: 'write',
    summary: 'Destroy a server',
    description:
      'For ever, whatever it does now. It is `destroying` until its disk is wiped, then `server.destroyed` is sent and ' +
      'it is gone. Its volumes are detached, its snapshots stay. One that never ran is refunded in full.',
    status: 202,
    errorStatuses: [404],
    audit: 'server.destroy',
    reply: Server,
    run: ({ service, actor, params }) => destroyServer(service, actor, params.id ?? ''),
  }),
  route({
    id: 'servers.reboot',
    method: 'POST',
    path: '/servers/{id}/reboot',
    scope: 'write',
    summary: 'Reboot a server',
    description:
      'The guest is asked to shut down, and switched off when it does not; `hard=true` resets it at once. The status stays ' +
      '`running`; `server.rebooted` says when it is done. A rescue system is left.',
    status: 202,
    errorStatuses: [404, 409, 422],
    audit: 'server.reboot',
    query: RebootQuery,
    reply: Server,
    run: ({ service, actor, params, query, saveResponse }) =>
      rebootServer(service, actor, params.id ?? '', { hard: query.hard ?? false }, saveResponse),
  }),
  route({
    id: 'servers.rebuild',
    method: 'POST',
    path: '/servers/{id}/rebuild',
    scope: 'write',
    summary: 'Rebuild a server from an image',
    description:
      'What is on its disk is destroyed; addresses stay. The server is `installing` until `server.rebuilt` is sent.',
    status: 202,
    errorStatuses: [404, 409, 422],
    audit: 'server.rebuild',
    body: RebuildBody,
    example: { image: 'img_aaaqk3m7qzb5x2l6v4t7n8wyja', ssh_keys: ['k_aaaqk3m7qzb5x2l6v4t7n8wyja'] },
    reply: Server,
    run: ({ service, actor, params, body, saveResponse: within }) =>
      rebuildServer(service, actor, params.id ?? '', body, within),
  }),
  route({
    id: 'servers.rescue',
    method: 'POST',
    path: '/servers/{id}/rescue',
    scope: 'write',
    summary: 'Boot the rescue system',
    description:
      'The answer holds the password, once. `server.rebooted` says when the rescue system runs; the next reboot leaves it.',
    status: 202,
    errorStatuses: [404, 409, 422],
    audit: 'server.rescue',
    reply: RescuedServer,
    run: ({ service, actor, params, saveResponse: within }) =>
      rescueServer(service, actor, params.id ?? '', within),
  }),
  route({
    id: 'servers.stop',
    method: 'POST',
    path: '/servers/{id}/stop',
    scope: 'write',
    summary: 'Stop a server',
    description:
      'The guest is asked to shut down, and switched off when it does not. It is `running` until it is off; then ' +
      '`server.stopped` is sent. Its cycle goes on, and renews.',
    status: 202,
    errorStatuses: [404, 409, 422],
    audit: 'server.stop',
    reply: Server,
    run: ({ service, actor, params, saveResponse: within }) =>
      stopServer(service, actor, params.id ?? '', within),
  }),
  route({
    id: 'servers.start',
    method: 'POST',
    path: '/servers/{id}/start',
    scope: 'write',
    summary: 'Start a stopped server',
    description:
      'One that is suspended because it was not renewed is charged a cycle from now on, and resumes. One that is suspended ' +
      'for want of balance resumes by itself once it is topped up.',
    status: 202,
    errorStatuses: [404, 409, 422],
    audit: 'server.start',
    reply: Server,
    run: ({ service, actor, params, saveResponse: within }) =>
      startServer(service, actor, params.id ?? '', within),
  }),
  route({
    id: 'servers.restore',
    method: 'POST',
    path: '/servers/{id}/restore',
    scope: 'write',
    summary: 'Restore a server from a snapshot',
    description:
      'Any ready snapshot of yours in the same region that fits the disk. What is on the disk is destroyed; addresses ' +
      'stay. The server is `installing` until `server.rebuilt` is sent.',
    status: 202,
    errorStatuses: [404, 409, 422],
    audit: 'server.restore',
    body: RestoreBody,
    example: { snapshot: 'snap_aaaqk3m7qzb5x2l6v4t7n8wyja' },
    reply: Server,
    run: ({ service, actor, params, body, saveResponse: within }) =>
      restoreServer(service, actor, params.id ?? '', body.snapshot, within),
  }),
];
