/** Coupons. Their paths name them by id: a code is in no log of requests. */
import { Type } from 'typebox';
import {
  checkCoupon,
  couponCost,
  createCoupon,
  endCoupon,
  listCoupons,
  readCoupon,
} from '../../../domain/billing/coupons/manage.ts';
import { COUPON_LIMITS } from '../../../spec/staff/coupons.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const COUPON = Type.Object(
  {
    coupon_code: Type.String({
      maxLength: COUPON_LIMITS.codeMaxChars,
      title: 'Code',
      description: 'Letters, digits, and dashes. Customers can enter it in lowercase, too.',
    }),
    amount_usd: Type.String({
      maxLength: 12,
      title: 'Amount in US dollars',
      description: 'Such as 25.50. Each customer gets it once.',
    }),
    max_uses: Type.Integer({
      minimum: 1,
      maximum: COUPON_LIMITS.usesMax,
      title: 'Maximum number of uses',
      description: 'How many customers can use it.',
    }),
    expires: Type.Optional(
      Type.String({
        maxLength: 40,
        title: 'Last day',
        description: 'Such as 2030-01-31, in UTC, or a time. Default: it does not expire.',
      }),
    ),
    account_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: COUPON_LIMITS.accountDaysMax,
        title: 'Only for accounts younger than this, in days',
        description: 'For trial credit. Default: for all customers.',
      }),
    ),
    note: Type.Optional(
      Type.String({
        maxLength: COUPON_LIMITS.noteMaxChars,
        description: 'For staff. The customer does not see it.',
      }),
    ),
  },
  CLOSED,
);

export const COUPON_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'coupons.list',
    method: 'GET',
    path: '/coupons',
    query: Type.Object({ before: Type.Optional(Type.String()), limit: LIMIT }, CLOSED),
    run: async ({ service, query: { limit, ...query } }) => {
      const found = await listCoupons(service, { ...given(query), limit: pageSize(limit) });
      return listOf(found.coupons, found.hasMore);
    },
  }),
  adminRoute({
    id: 'coupons.get',
    method: 'GET',
    path: '/coupons/{id}',
    run: ({ service, params }) => readCoupon(service, params.id),
  }),
  adminRoute({
    id: 'coupons.create',
    method: 'POST',
    path: '/coupons',
    status: 201,
    body: COUPON,
    checkHeld: ({ service, body }) => checkCoupon(service, body),
    heldAmount: ({ body }) => couponCost(body),
    unlogged: ['coupon_code'],
    run: async ({ service, body }) => await createCoupon(service, body),
  }),
  adminRoute({
    id: 'coupons.end',
    method: 'POST',
    path: '/coupons/{id}/end',
    run: async ({ service, params }) => {
      await endCoupon(service, params.id);
      return await readCoupon(service, params.id);
    },
  }),
];
