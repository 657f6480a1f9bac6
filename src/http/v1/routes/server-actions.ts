/** Actions on a server, and its console. An event reports the completion of an action. */

import { openConsole } from '../../../domain/servers/console.ts';
import { ejectIso, insertIso } from '../../../domain/servers/iso/change.ts';
import { destroyServer } from '../../../domain/servers/operations/destroy.ts';
import {
  rebootServer,
  rescueServer,
  startServer,
  stopServer,
} from '../../../domain/servers/operations/power.ts';
import { rebuildServer, restoreServer } from '../../../domain/servers/operations/reinstall.ts';
import { resizeServer } from '../../../domain/servers/resize/resize.ts';
import { Server } from '../../../spec/schemas/server.ts';
import {
  Console,
  DeletedServer,
  IsoBody,
  RebootQuery,
  RebuildBody,
  RescuedServer,
  ResizeBody,
  RestoreBody,
  StartBody,
} from '../../../spec/schemas/server-actions.ts';
import { scopeCovers } from '../../../spec/scopes.ts';
import { type Route, route } from '../route.ts';

export const SERVER_ACTION_ROUTES: readonly Route[] = [
  route({
    id: 'servers.delete',
    method: 'DELETE',
    path: '/servers/{id}',
    scope: 'write',
    summary: 'Delete a server',
    description:
      'Permanently deletes a server, in any status, unless it is protected. The status is `destroying` ' +
      'until the disk is wiped; then we send `server.destroyed` and the server no longer exists. Its ' +
      'volumes are detached and its snapshots are kept. A server whose install has not ended is ' +
      'refunded in full.',
    status: 202,
    errorStatuses: [409],
    audit: 'server.destroy',
    starts: 'server.delete',
    reply: DeletedServer,
    run: ({ service, actor, params }) => destroyServer(service, actor, params.id),
  }),
  route({
    id: 'servers.reboot',
    method: 'POST',
    path: '/servers/{id}/reboot',
    scope: 'write',
    summary: 'Reboot a server',
    description:
      'Asks the guest to shut down, and powers it off if it does not respond. With `hard=true`, resets it ' +
      'immediately. The status stays `running`. We send `server.rebooted` when the reboot completes. A ' +
      'reboot also leaves the rescue system.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.reboot',
    starts: 'server.reboot',
    query: RebootQuery,
    reply: Server,
    run: ({ service, actor, params, query }) =>
      rebootServer(service, actor, params.id, { hard: query.hard ?? false }),
  }),
  route({
    id: 'servers.rebuild',
    method: 'POST',
    path: '/servers/{id}/rebuild',
    scope: 'write',
    summary: 'Rebuild a server from an image',
    description:
      'Erases the disk and installs the image. The server keeps its addresses. Its status is `installing` ' +
      'until we send `server.rebuilt`.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.rebuild',
    starts: 'server.rebuild',
    body: RebuildBody,
    example: { image: 'img_aaaqk3m7qzb5x2l6v4t7n8wyja', ssh_keys: ['k_aaaqk3m7qzb5x2l6v4t7n8wyja'] },
    reply: Server,
    run: ({ service, actor, params, body }) => rebuildServer(service, actor, params.id, body),
  }),
  route({
    id: 'servers.rescue',
    method: 'POST',
    path: '/servers/{id}/rescue',
    scope: 'write',
    summary: 'Boot a server into the rescue system',
    description:
      'The response contains the rescue password, which we show only once. We send `server.rebooted` when ' +
      'the rescue system is running. The next reboot leaves it.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.rescue',
    starts: 'server.rescue',
    reply: RescuedServer,
    run: ({ service, actor, params }) => rescueServer(service, actor, params.id),
  }),
  route({
    id: 'servers.stop',
    method: 'POST',
    path: '/servers/{id}/stop',
    scope: 'write',
    summary: 'Stop a server',
    description:
      'Asks the guest to shut down, and powers it off if it does not respond. The status stays `running` ' +
      'until the server is off; then we send `server.stopped`. Its billing cycle continues and renews.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.stop',
    starts: 'server.stop',
    reply: Server,
    run: ({ service, actor, params }) => stopServer(service, actor, params.id),
  }),
  route({
    id: 'servers.start',
    method: 'POST',
    path: '/servers/{id}/start',
    scope: 'write',
    summary: 'Start a stopped server',
    description:
      'The status becomes `running` when the server is powered on, usually within seconds. The system ' +
      'boots after that: connect to it to learn when it is ready. A server that was not renewed is charged ' +
      'a new cycle, which starts now, and resumes. A server that is suspended for insufficient balance ' +
      'resumes automatically after you top up.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.start',
    starts: 'server.start',
    body: StartBody,
    example: { max_price_usd: 16.54 },
    reply: Server,
    run: ({ service, actor, params, body }) => startServer(service, actor, params.id, body),
  }),
  route({
    id: 'servers.resize',
    method: 'POST',
    path: '/servers/{id}/resize',
    scope: 'write',
    beta: true,
    summary: 'Resize a server to another plan',
    description:
      'Changes CPUs and memory, and with `resize_disk` the disk. The server must be `stopped`, or ' +
      '`restart` true. The cycle keeps its end: the rest of it is charged or refunded pro rata. If the ' +
      'resize fails, the previous plan and the money come back.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.resize',
    starts: 'server.resize',
    body: ResizeBody,
    example: { plan: 's2', restart: true },
    reply: Server,
    run: ({ service, actor, params, body }) => resizeServer(service, actor, params.id, body),
  }),
  route({
    id: 'servers.insert_iso',
    method: 'PUT',
    path: '/servers/{id}/iso',
    scope: 'write',
    summary: 'Insert an ISO image into a server',
    description:
      'Puts an image that you uploaded into the drive for ISO images, also while the server runs, and ' +
      'replaces the image in it. We send `server.iso_inserted` when the server has it. To boot it, ' +
      'set `boot` to `iso` and reboot. A server with an ISO image is not moved to another host.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.insert_iso',
    starts: 'server.insert_iso',
    body: IsoBody,
    example: { image: 'custom_aaaqk3m7qzb5x2l6v4t7n8wyja' },
    reply: Server,
    run: ({ service, actor, params, body }) => insertIso(service, actor, params.id, body),
  }),
  route({
    id: 'servers.eject_iso',
    method: 'DELETE',
    path: '/servers/{id}/iso',
    scope: 'write',
    summary: 'Eject the ISO image of a server',
    description:
      'Empties the drive, also while the server runs, and sets `boot` to `disk`. We send ' +
      '`server.iso_ejected` when the drive is empty.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.eject_iso',
    starts: 'server.eject_iso',
    reply: Server,
    run: ({ service, actor, params }) => ejectIso(service, actor, params.id),
  }),
  route({
    id: 'servers.restore',
    method: 'POST',
    path: '/servers/{id}/restore',
    scope: 'write',
    summary: 'Restore a server from a snapshot',
    description:
      'Erases the disk and restores any of your `ready` snapshots from the same region that fits it. The ' +
      'server keeps its addresses. Its status is `installing` until we send `server.rebuilt`.',
    status: 202,
    errorStatuses: [409, 422],
    audit: 'server.restore',
    starts: 'server.restore',
    body: RestoreBody,
    example: { snapshot: 'snap_aaaqk3m7qzb5x2l6v4t7n8wyja' },
    reply: Server,
    run: ({ service, actor, params, body }) => restoreServer(service, actor, params.id, body.snapshot),
  }),
];

export const CONSOLE_ROUTES: readonly Route[] = [
  route({
    id: 'servers.console',
    method: 'GET',
    path: '/servers/{id}/console',
    scope: 'read',
    summary: 'Open the console of a server',
    description:
      'Returns the URL of a page that shows the screen of a running server. It works once, within five ' +
      'minutes. A token of scope `read` can only watch; `write` and above can also type.',
    errorStatuses: [409, 422],
    reply: Console,
    run: ({ service, actor, params, baseUrl }) => {
      const readOnly = !scopeCovers(actor.scope, 'write');
      return openConsole(service, actor, params.id, { readOnly, baseUrl: baseUrl() });
    },
  }),
];
