import { Type } from 'typebox';
import type { Service } from '../../../domain/context.ts';
import {
  freezeServer,
  placeLegalHold,
  releaseServer,
  setOutboundMail,
} from '../../../domain/servers/operator/controls.ts';
import {
  findServerForOperator,
  listServersForOperator,
  type OperatorServerQuery,
} from '../../../domain/servers/operator/find.ts';
import { toServerObject } from '../../../domain/staff/objects.ts';
import { readServerForStaff } from '../../../domain/staff/servers.ts';
import { SERVER_STATUSES } from '../../../spec/states.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, ONE_LINE, pageSize } from './lists.ts';
import { SERVER_ACT_ROUTES } from './server-acts.ts';

const LINE = { ...ONE_LINE, maxLength: 200 } as const;

async function changed(service: Service, id: string, control: Promise<boolean>): Promise<object> {
  const isChanged = await control;
  return { ...toServerObject(await findServerForOperator(service, id)), changed: isChanged };
}

export const SERVER_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'servers.list',
    method: 'GET',
    path: '/servers',
    query: Type.Object(
      {
        search: Type.Optional(Type.String({ maxLength: 255 })),
        customer: Type.Optional(Type.String()),
        status: Type.Optional(Type.Enum([...SERVER_STATUSES])),
        region: Type.Optional(Type.String({ maxLength: 100 })),
        plan: Type.Optional(Type.String({ maxLength: 100 })),
        host: Type.Optional(Type.String({ maxLength: 100 })),
        label: Type.Optional(Type.String({ maxLength: 500, description: 'key=value,key=value' })),
        frozen: Type.Optional(Type.Literal('true')),
        held: Type.Optional(Type.Literal('true')),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, frozen, held, ...query } }) => {
      const filter = { ...query, frozen: frozen && true, held: held && true };
      const found = await listServersForOperator(service, {
        ...(given(filter) as OperatorServerQuery),
        limit: pageSize(limit),
      });
      return listOf(found.servers.map(toServerObject), found.hasMore);
    },
  }),
  adminRoute({
    id: 'servers.get',
    method: 'GET',
    path: '/servers/{id}',
    run: ({ service, params }) => readServerForStaff(service, params.id),
  }),
  adminRoute({
    id: 'servers.freeze',
    method: 'POST',
    path: '/servers/{id}/freeze',
    body: Type.Object({ message: Type.String({ ...LINE, title: 'Message to the customer' }) }, CLOSED),
    run: async ({ service, params, body }) =>
      await changed(service, params.id, freezeServer(service, params.id, body.message)),
  }),
  adminRoute({
    id: 'servers.hold',
    method: 'POST',
    path: '/servers/{id}/hold',
    body: Type.Object(
      {
        order: Type.String({
          ...LINE,
          title: 'Legal order',
          description: 'Shown to everyone whom it blocks.',
        }),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) =>
      await changed(service, params.id, placeLegalHold(service, params.id, body.order)),
  }),
  adminRoute({
    id: 'servers.release',
    method: 'POST',
    path: '/servers/{id}/release',
    run: ({ service, params: { id } }) =>
      changed(service, id, releaseServer(service, id, { freeze: true, hold: false })),
  }),
  adminRoute({
    id: 'servers.release_hold',
    method: 'POST',
    path: '/servers/{id}/release_hold',
    run: ({ service, params: { id } }) =>
      changed(service, id, releaseServer(service, id, { freeze: false, hold: true })),
  }),
  adminRoute({
    id: 'servers.set_mail',
    method: 'POST',
    path: '/servers/{id}/mail',
    body: Type.Object({ allowed: Type.Boolean({ title: 'Allow outbound SMTP' }) }, CLOSED),
    run: async ({ service, params, body }) =>
      await changed(service, params.id, setOutboundMail(service, params.id, body.allowed)),
  }),
  ...SERVER_ACT_ROUTES,
];
