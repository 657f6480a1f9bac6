/** Acts on a server that its customer can do, too. */
import { Type } from 'typebox';
import type { Service } from '../../../domain/context.ts';
import { moveServer } from '../../../domain/servers/moves/queue.ts';
import {
  deleteForOperator,
  openConsoleForOperator,
  POWER_ACTS,
  rebuildForOperator,
  rescueForOperator,
  resizeForOperator,
  setServerPower,
} from '../../../domain/servers/operator/acts.ts';
import { findServerForOperator } from '../../../domain/servers/operator/find.ts';
import { toServerObject } from '../../../domain/staff/objects.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED } from './lists.ts';

async function shown(service: Service, id: string): Promise<object> {
  return toServerObject(await findServerForOperator(service, id));
}

const PRICE_MAX_USD = 100_000;
const NAME = { maxLength: 100 } as const;

const POWER_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'servers.power',
    method: 'POST',
    path: '/servers/{id}/power',
    body: Type.Object(
      {
        action: Type.Enum([...POWER_ACTS], {
          description: 'shutdown and reboot ask the system first. reset and poweroff do not.',
        }),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      await setServerPower(service, params.id, body.action);
      return await shown(service, params.id);
    },
  }),
  adminRoute({
    id: 'servers.rescue',
    method: 'POST',
    path: '/servers/{id}/rescue',
    run: async ({ service, params }) => {
      const { rescue } = await rescueForOperator(service, params.id);
      return { ...(await shown(service, params.id)), rescue };
    },
  }),
  adminRoute({
    id: 'servers.open_console',
    method: 'POST',
    path: '/servers/{id}/console',
    status: 201,
    body: Type.Object(
      { read_only: Type.Optional(Type.Boolean({ title: 'Watch only', description: 'No input.' })) },
      CLOSED,
    ),
    run: ({ service, params, body }) =>
      openConsoleForOperator(service, params.id, { readOnly: body.read_only ?? false }),
  }),
];

const CHANGE_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'servers.move',
    method: 'POST',
    path: '/servers/{id}/move',
    body: Type.Object(
      {
        to: Type.Optional(
          Type.String({ title: 'To host', description: 'Default: any of its region.', ...NAME }),
        ),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      await moveServer(service, params.id, body.to ?? null);
      return await shown(service, params.id);
    },
  }),
  adminRoute({
    id: 'servers.resize',
    method: 'POST',
    path: '/servers/{id}/resize',
    body: Type.Object(
      {
        plan: Type.String(NAME),
        max_price_usd: Type.Number({
          minimum: 0,
          maximum: PRICE_MAX_USD,
          title: 'Most to charge (USD)',
          description: 'A higher price changes nothing. 0 for a plan that costs no more.',
        }),
        resize_disk: Type.Optional(
          Type.Boolean({ title: 'Enlarge the disk', description: 'A disk never shrinks.' }),
        ),
        restart: Type.Optional(
          Type.Boolean({ title: 'Restart', description: 'A running server has to restart.' }),
        ),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      await resizeForOperator(service, params.id, body);
      return await shown(service, params.id);
    },
  }),
  adminRoute({
    id: 'servers.rebuild',
    method: 'POST',
    path: '/servers/{id}/rebuild',
    body: Type.Object(
      {
        image: Type.Optional(Type.String({ description: 'Image ID. Default: the current image.', ...NAME })),
        ssh_key: Type.Optional(
          Type.String({
            title: 'SSH key',
            description: 'ID of a key of the customer. Default: the keys of the server.',
            ...NAME,
          }),
        ),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      const { image = null, ssh_key: sshKey = null } = body;
      await rebuildForOperator(service, params.id, { image, sshKey });
      return await shown(service, params.id);
    },
  }),
  adminRoute({
    id: 'servers.delete',
    method: 'POST',
    path: '/servers/{id}/delete',
    run: async ({ service, params }) => {
      // The server may be gone by now.
      const { id, name, status, refund_usd } = await deleteForOperator(service, params.id);
      return { object: 'server', id, name, status, refund_usd };
    },
  }),
];

export const SERVER_ACT_ROUTES: readonly AdminRoute[] = [...POWER_ROUTES, ...CHANGE_ROUTES];
