import { Type } from 'typebox';
import {
  APPROVAL_OPERATIONS,
  listApprovalRules,
  readApprovalRule,
  removeApprovalRule,
  setApprovalRule,
} from '../../../domain/staff/approval-rules.ts';
import {
  type ApprovalView,
  approve,
  listApprovals,
  readApproval,
  refuseApproval,
} from '../../../domain/staff/approvals.ts';
import type { StaffActor } from '../../../domain/staff/context.ts';
import { requireStaffCode } from '../../../domain/staff/sign-in.ts';
import { mayPerform, type StaffOperation } from '../../../spec/staff/operations.ts';
import { APPROVAL_STATES } from '../../../spec/staff/roles.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

/** The input is for those who may perform the operation: it can name a coupon, or an IP address. */
function shownTo({ role }: StaffActor, approval: ApprovalView): ApprovalView {
  return mayPerform(role, approval.operation as StaffOperation) ? approval : { ...approval, details: {} };
}

const REQUEST_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'approvals.list',
    method: 'GET',
    path: '/approvals',
    query: Type.Object(
      {
        state: Type.Optional(Type.Enum([...APPROVAL_STATES])),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, actor, query: { limit, ...query } }) => {
      const found = await listApprovals(service, { ...given(query), limit: pageSize(limit) });
      return listOf(
        found.approvals.map((row) => shownTo(actor, row)),
        found.hasMore,
      );
    },
  }),
  adminRoute({
    id: 'approvals.get',
    method: 'GET',
    path: '/approvals/{id}',
    run: async ({ service, actor, params }) => shownTo(actor, await readApproval(service, params.id)),
  }),
  adminRoute({
    id: 'approvals.approve',
    method: 'POST',
    path: '/approvals/{id}/approve',
    body: Type.Object(
      {
        code: Type.String({
          title: 'One-time code',
          maxLength: 20,
          description: 'From your authenticator app.',
        }),
      },
      CLOSED,
    ),
    run: async ({ service, actor, params, body, carryOut }) => {
      // A stolen session or token alone cannot approve.
      await requireStaffCode(service, actor.staffId, body.code);
      return await approve(service, params.id, actor, carryOut);
    },
  }),
  adminRoute({
    id: 'approvals.refuse',
    method: 'POST',
    path: '/approvals/{id}/refuse',
    run: ({ service, actor, params }) => refuseApproval(service, params.id, actor),
  }),
];

const RULE_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'approval_rules.list',
    method: 'GET',
    path: '/approval_rules',
    run: async ({ service }) => listOf(await listApprovalRules(service), false),
  }),
  adminRoute({
    id: 'approval_rules.get',
    method: 'GET',
    path: '/approval_rules/{id}',
    run: ({ service, params }) => readApprovalRule(service, params.id),
  }),
  adminRoute({
    id: 'approval_rules.set',
    method: 'POST',
    path: '/approval_rules',
    status: 201,
    body: Type.Object(
      {
        operation: Type.Enum([...APPROVAL_OPERATIONS]),
        over_usd: Type.Optional(
          Type.String({
            title: 'Only above this amount',
            pattern: '^[0-9]{1,12}([.][0-9]{1,2})?$',
            maxLength: 20,
            description: 'In US dollars, for acts on money. Empty: every act.',
          }),
        ),
      },
      CLOSED,
    ),
    run: ({ service, body }) => setApprovalRule(service, body),
  }),
  adminRoute({
    id: 'approval_rules.remove',
    method: 'DELETE',
    path: '/approval_rules/{id}',
    status: 204,
    run: async ({ service, params }) => {
      await removeApprovalRule(service, params.id);
      return undefined;
    },
  }),
];

export const APPROVAL_ROUTES: readonly AdminRoute[] = [...REQUEST_ROUTES, ...RULE_ROUTES];
