/** Stuck work of all queues. */
import { Type } from 'typebox';
import { giveUpWork, retryWork } from '../../../domain/staff/work/control.ts';
import { listWorkObjects, readWork, type WorkQuery } from '../../../domain/staff/work/read.ts';
import { WORK_QUEUE_NAMES, WORK_STATES } from '../../../spec/staff/work.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

export const WORK_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'work.list',
    method: 'GET',
    path: '/stuck_work',
    query: Type.Object(
      {
        queue: Type.Optional(Type.Enum([...WORK_QUEUE_NAMES])),
        state: Type.Optional(Type.Enum([...WORK_STATES])),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const filter = given(query) as WorkQuery;
      const found = await listWorkObjects(service, { ...filter, limit: pageSize(limit) });
      return listOf(found.work, found.hasMore);
    },
  }),
  adminRoute({
    id: 'work.get',
    method: 'GET',
    path: '/stuck_work/{id}',
    run: ({ service, params }) => readWork(service, params.id),
  }),
  adminRoute({
    id: 'work.retry',
    method: 'POST',
    path: '/stuck_work/{id}/retry',
    run: async ({ service, params }) => {
      await retryWork(service, params.id);
      return { object: 'work', id: params.id };
    },
  }),
  adminRoute({
    id: 'work.give_up',
    method: 'POST',
    path: '/stuck_work/{id}/give_up',
    run: async ({ service, params }) => {
      await giveUpWork(service, params.id);
      return { object: 'work', id: params.id };
    },
  }),
];
