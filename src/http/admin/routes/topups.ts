import { Type } from 'typebox';
import type { Service } from '../../../domain/context.ts';
import { systemActor } from '../../../domain/record.ts';
import { toPaymentObject, toTopupObject } from '../../../domain/staff/objects.ts';
import {
  findTopupForOperator,
  listTopupsForOperator,
  type TopupQuery,
} from '../../../domain/topups/operator.ts';
import { releaseTopup } from '../../../domain/topups/settlement/withheld.ts';
import { COIN_CODES } from '../../../spec/coins.ts';
import { TOPUP_STATUSES } from '../../../spec/states.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

async function readTopup(service: Service, name: string): Promise<object> {
  const { topup, payments } = await findTopupForOperator(service, name);
  return { ...toTopupObject(topup), payments: payments.map(toPaymentObject) };
}

export const TOPUP_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'topups.list',
    method: 'GET',
    path: '/topups',
    query: Type.Object(
      {
        customer: Type.Optional(Type.String()),
        status: Type.Optional(Type.Enum([...TOPUP_STATUSES])),
        coin: Type.Optional(Type.Enum([...COIN_CODES])),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const found = await listTopupsForOperator(service, {
        ...(given(query) as TopupQuery),
        limit: pageSize(limit),
      });
      return listOf(found.topups.map(toTopupObject), found.more);
    },
  }),
  adminRoute({
    id: 'topups.get',
    method: 'GET',
    path: '/topups/{id}',
    run: ({ service, params }) => readTopup(service, params.id),
  }),
  adminRoute({
    id: 'topups.release',
    method: 'POST',
    path: '/topups/{id}/release',
    run: async ({ service, params }) => {
      const { topup } = await findTopupForOperator(service, params.id);
      await releaseTopup(service, systemActor(service.clock.now()), topup.id);
      return await readTopup(service, params.id);
    },
  }),
];
