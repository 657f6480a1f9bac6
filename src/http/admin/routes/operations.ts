import { Type } from 'typebox';
import { OPERATION_KINDS } from '../../../domain/actions/operations.ts';
import { giveUpOperation, retryOperation } from '../../../domain/servers/operator/operations.ts';
import { listOperationObjects, readOperation } from '../../../domain/staff/operations.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

export const OPERATION_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'operations.list',
    method: 'GET',
    path: '/operations',
    query: Type.Object(
      {
        state: Type.Optional(Type.Enum(['failing', 'stuck'])),
        kind: Type.Optional(Type.Enum([...OPERATION_KINDS])),
        host: Type.Optional(Type.String({ maxLength: 100 })),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const found = await listOperationObjects(service, { ...given(query), limit: pageSize(limit) });
      return listOf(found.operations, found.hasMore);
    },
  }),
  adminRoute({
    id: 'operations.get',
    method: 'GET',
    path: '/operations/{id}',
    run: ({ service, params }) => readOperation(service, params.id),
  }),
  adminRoute({
    id: 'operations.retry',
    method: 'POST',
    path: '/operations/{id}/retry',
    run: async ({ service, params }) => {
      await retryOperation(service, params.id);
      return { object: 'operation', id: params.id };
    },
  }),
  adminRoute({
    id: 'operations.give_up',
    method: 'POST',
    path: '/operations/{id}/give_up',
    run: async ({ service, params }) => {
      await giveUpOperation(service, params.id);
      return { object: 'operation', id: params.id };
    },
  }),
];
