import { Type } from 'typebox';
import { systemActor } from '../../../domain/record.ts';
import type { StaffActor } from '../../../domain/staff/context.ts';
import { readTopupObject, toDepositObject, toTopupObject } from '../../../domain/staff/topups.ts';
import {
  type DepositQuery,
  findTopupForOperator,
  listDepositsForOperator,
  listTopupsForOperator,
  type TopupQuery,
} from '../../../domain/topups/operator.ts';
import { checkRefund, refundTopup } from '../../../domain/topups/settlement/refund.ts';
import { releaseTopup } from '../../../domain/topups/settlement/withheld.ts';
import { COIN_CODES } from '../../../spec/coins.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { DEPOSIT_OUTCOMES, DEPOSIT_STATES, TOPUP_NOTES } from '../../../spec/staff/payments.ts';
import { TOPUP_STATUSES } from '../../../spec/states.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const COIN = Type.Optional(Type.Enum([...COIN_CODES]));
const BEFORE = Type.Optional(Type.String({ maxLength: 300 }));
const NOTE = Type.Optional(
  Type.String({ maxLength: 200, title: 'Note', description: 'One line for the records.' }),
);
const TXID = { maxLength: 128, title: 'Transaction' };

/** Names of staff may be longer than those in records of refunds. */
function shortName({ name }: StaffActor): string {
  return [...name].slice(0, LIMITS.nameMaxChars).join('');
}

const READ_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'topups.list',
    method: 'GET',
    path: '/topups',
    query: Type.Object(
      {
        customer: Type.Optional(Type.String()),
        status: Type.Optional(Type.Enum([...TOPUP_STATUSES])),
        note: Type.Optional(Type.Enum([...TOPUP_NOTES])),
        coin: COIN,
        before: BEFORE,
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
    run: ({ service, params }) => readTopupObject(service, params.id),
  }),
  adminRoute({
    id: 'deposits.list',
    method: 'GET',
    path: '/deposits',
    query: Type.Object(
      {
        state: Type.Optional(Type.Enum([...DEPOSIT_STATES])),
        outcome: Type.Optional(Type.Enum([...DEPOSIT_OUTCOMES])),
        coin: COIN,
        before: BEFORE,
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const found = await listDepositsForOperator(service, {
        ...(given(query) as DepositQuery),
        limit: pageSize(limit),
      });
      return listOf(found.deposits.map(toDepositObject), found.more);
    },
  }),
];

export const TOPUP_ROUTES: readonly AdminRoute[] = [
  ...READ_ROUTES,
  adminRoute({
    id: 'topups.release',
    method: 'POST',
    path: '/topups/{id}/release',
    run: async ({ service, params }) => {
      const { topup } = await findTopupForOperator(service, params.id);
      await releaseTopup(service, systemActor(service.clock.now()), topup.id);
      return await readTopupObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'topups.refund',
    method: 'POST',
    path: '/topups/{id}/refund',
    body: Type.Object(
      {
        to: Type.String({
          maxLength: 200,
          title: 'Address',
          description: 'Where the customer wants the coins. You send them yourself.',
        }),
        approved_by: Type.Optional(
          Type.String({ maxLength: LIMITS.nameMaxChars, title: 'Approved by', description: 'Default: you.' }),
        ),
        txid: Type.Optional(
          Type.String({ ...TXID, description: 'If the coins were sent already. You can record it later.' }),
        ),
        note: NOTE,
      },
      CLOSED,
    ),
    checkHeld: async ({
      service,
      actor,
      params,
      body: { approved_by: approvedBy = shortName(actor), ...order },
    }) => {
      const { topup } = await findTopupForOperator(service, params.id);
      await checkRefund(service, topup, { ...order, approvedBy });
    },
    run: async ({
      service,
      actor,
      params,
      body: { approved_by: approvedBy = shortName(actor), ...order },
    }) => {
      const { topup } = await findTopupForOperator(service, params.id);
      await refundTopup(service, systemActor(service.clock.now()), topup.id, { ...order, approvedBy });
      return await readTopupObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'topups.mark_refunded',
    method: 'POST',
    path: '/topups/{id}/mark_refunded',
    body: Type.Object({ txid: Type.String(TXID), note: NOTE }, CLOSED),
    checkHeld: async ({ service, params, body }) => {
      const { topup } = await findTopupForOperator(service, params.id);
      await checkRefund(service, topup, body);
    },
    run: async ({ service, params, body }) => {
      const { topup } = await findTopupForOperator(service, params.id);
      await refundTopup(service, systemActor(service.clock.now()), topup.id, body);
      return await readTopupObject(service, params.id);
    },
  }),
];
