import { Type } from 'typebox';
import { announcePrice, cancelPrice } from '../../../domain/billing/prices.ts';
import {
  listPlanObjects,
  listRegionObjects,
  priceDifference,
  readPlanObject,
  readRegionObject,
  setPlanPrice,
} from '../../../domain/catalogue/plans.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, listOf } from './lists.ts';

const price = (title: string, description: string) => Type.String({ maxLength: 12, title, description });
const PER_MONTH = 'US dollars per month, such as 12.50.';

export const PLAN_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'regions.list',
    method: 'GET',
    path: '/regions',
    run: async ({ service }) => listOf(await listRegionObjects(service), false),
  }),
  adminRoute({
    id: 'regions.get',
    method: 'GET',
    path: '/regions/{id}',
    run: ({ service, params }) => readRegionObject(service, params.id),
  }),
  adminRoute({
    id: 'plans.list',
    method: 'GET',
    path: '/plans',
    run: async ({ service }) => listOf(await listPlanObjects(service), false),
  }),
  adminRoute({
    id: 'plans.get',
    method: 'GET',
    path: '/plans/{id}',
    query: Type.Object(
      { price_usd: Type.Optional(price('New price', `Show what this price would change. ${PER_MONTH}`)) },
      CLOSED,
    ),
    run: ({ service, params, query: { price_usd: usd } }) => readPlanObject(service, params.id, usd),
  }),
  adminRoute({
    id: 'plans.set_price',
    method: 'POST',
    path: '/plans/{id}/set_price',
    body: Type.Object(
      {
        price_usd: price('New price', PER_MONTH),
        was_usd: price('Current price', 'Refused if the price is another one by now.'),
      },
      CLOSED,
    ),
    heldAmount: ({ service, params, body }) => priceDifference(service, params.id, body.price_usd),
    run: async ({ service, params, body }) => {
      await setPlanPrice(service, { plan: params.id, price: body.price_usd, was: body.was_usd });
      return await readPlanObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'plans.announce_price',
    method: 'POST',
    path: '/plans/{id}/announce_price',
    body: Type.Object(
      {
        price_usd: price('New price', PER_MONTH),
        at: Type.Optional(
          Type.String({
            maxLength: 40,
            title: 'From',
            description: 'A day such as 2026-01-31. Default: the earliest.',
          }),
        ),
      },
      CLOSED,
    ),
    run: async ({ service, params, body: { price_usd: usdMonth, ...rest } }) => {
      await announcePrice(service, { ...given(rest), plan: params.id, usdMonth });
      return await readPlanObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'plans.cancel_price',
    method: 'POST',
    path: '/plans/{id}/cancel_price',
    body: Type.Object(
      { announcement: Type.String({ maxLength: 40, title: 'Announcement', description: 'Its id, prc_….' }) },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      await cancelPrice(service, body.announcement, params.id);
      return await readPlanObject(service, params.id);
    },
  }),
];
