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
import { SERVER_STATUSES } from '../../../spec/states.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const LINE = Type.String({ minLength: 1, maxLength: 200 });

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
        customer: Type.Optional(Type.String()),
        status: Type.Optional(Type.Enum([...SERVER_STATUSES])),
        region: Type.Optional(Type.String()),
        host: Type.Optional(Type.String()),
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
    run: async ({ service, params }) => toServerObject(await findServerForOperator(service, params.id)),
  }),
  adminRoute({
    id: 'servers.freeze',
    method: 'POST',
    path: '/servers/{id}/freeze',
    body: Type.Object({ message: LINE }, CLOSED),
    run: async ({ service, params, body }) =>
      await changed(service, params.id, freezeServer(service, params.id, body.message)),
  }),
  adminRoute({
    id: 'servers.hold',
    method: 'POST',
    path: '/servers/{id}/hold',
    body: Type.Object({ order: LINE }, CLOSED),
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
    body: Type.Object({ allowed: Type.Boolean() }, CLOSED),
    run: async ({ service, params, body }) =>
      await changed(service, params.id, setOutboundMail(service, params.id, body.allowed)),
  }),
];
