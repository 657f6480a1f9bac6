import { Type } from 'typebox';
import { listAuditForOperator, type OperatorAuditQuery } from '../../../domain/audit/operator.ts';
import { readStatus } from '../../../domain/health/status.ts';
import { readCapacity } from '../../../domain/staff/capacity.ts';
import { readFigures } from '../../../domain/staff/figures.ts';
import { toAuditObject } from '../../../domain/staff/objects.ts';
import { FIGURE_PERIOD_NAMES } from '../../../spec/staff/figures.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

export const SERVICE_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'status.get',
    method: 'GET',
    path: '/status',
    run: async ({ service }) => ({ object: 'status', findings: await readStatus(service) }),
  }),
  adminRoute({
    id: 'figures.get',
    method: 'GET',
    path: '/figures',
    query: Type.Object({ period: Type.Optional(Type.Enum([...FIGURE_PERIOD_NAMES])) }, CLOSED),
    run: ({ service, query: { period = 'day' } }) => readFigures(service, period),
  }),
  adminRoute({
    id: 'capacity.get',
    method: 'GET',
    path: '/capacity',
    run: async ({ service }) => ({ object: 'capacity', regions: await readCapacity(service) }),
  }),
  adminRoute({
    id: 'audit.list',
    method: 'GET',
    path: '/audit',
    query: Type.Object(
      {
        customer: Type.Optional(Type.String()),
        action: Type.Optional(Type.String()),
        resource: Type.Optional(Type.String()),
        unasked: Type.Optional(Type.Literal('true')),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { unasked, limit, ...query } }) => {
      const filter = { ...query, unattributed: unasked && true, limit: pageSize(limit) };
      const { rows, hasMore } = await listAuditForOperator(service, given(filter) as OperatorAuditQuery);
      return listOf(rows.map(toAuditObject), hasMore);
    },
  }),
];
