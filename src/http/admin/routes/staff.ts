import { Type } from 'typebox';
import { readStaffLog, type StaffLogQuery } from '../../../domain/staff/log.ts';
import {
  changeRole,
  endAccess,
  endStaffSessions,
  inviteStaff,
  listStaff,
  readStaff,
} from '../../../domain/staff/people.ts';
import { requireStaffCode } from '../../../domain/staff/sign-in.ts';
import {
  createStaffToken,
  listStaffTokens,
  requireTokenRole,
  revokeStaffToken,
} from '../../../domain/staff/tokens.ts';
import { mayPerform } from '../../../spec/staff/operations.ts';
import { STAFF_ROLES } from '../../../spec/staff/roles.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const ROLE = Type.Enum([...STAFF_ROLES]);

const PEOPLE_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'staff.list',
    method: 'GET',
    path: '/staff',
    query: Type.Object({ before: Type.Optional(Type.String({ maxLength: 60 })), limit: LIMIT }, CLOSED),
    run: async ({ service, query: { before, limit } }) => {
      const asked = { ...given({ before }), limit: pageSize(limit) };
      const { people, hasMore } = await listStaff(service, asked);
      return listOf(people, hasMore);
    },
  }),
  adminRoute({
    id: 'staff.get',
    method: 'GET',
    path: '/staff/{id}',
    run: ({ service, params }) => readStaff(service, params.id),
  }),
  adminRoute({
    id: 'staff.invite',
    method: 'POST',
    path: '/staff',
    status: 201,
    body: Type.Object({ email: Type.String(), name: Type.String(), role: ROLE }, CLOSED),
    run: async ({ service, body }) => {
      const { staff, code } = await inviteStaff(service, body);
      return { ...staff, invitation_code: code };
    },
  }),
  adminRoute({
    id: 'staff.set_role',
    method: 'PATCH',
    path: '/staff/{id}',
    body: Type.Object({ role: ROLE }, CLOSED),
    run: ({ service, params, body }) => changeRole(service, params.id, body.role),
  }),
  adminRoute({
    id: 'staff.disable',
    method: 'POST',
    path: '/staff/{id}/disable',
    run: ({ service, params }) => endAccess(service, params.id),
  }),
  adminRoute({
    id: 'staff.end_sessions',
    method: 'POST',
    path: '/staff/{id}/end_sessions',
    run: ({ service, params }) => endStaffSessions(service, params.id),
  }),
];

const TOKEN_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'staff_tokens.list',
    method: 'GET',
    path: '/staff_tokens',
    run: async ({ service, actor }) => listOf(await listStaffTokens(service, actor), false),
  }),
  adminRoute({
    id: 'staff_tokens.create',
    method: 'POST',
    path: '/staff_tokens',
    status: 201,
    body: Type.Object(
      {
        name: Type.String(),
        role: Type.Optional(ROLE),
        expires_at: Type.Optional(Type.String({ format: 'date-time' })),
        code: Type.String({ maxLength: 20, description: 'A one-time code of your authenticator app.' }),
      },
      CLOSED,
    ),
    run: async ({ service, actor, body: { code, ...order } }) => {
      requireTokenRole(actor, order.role);
      await requireStaffCode(service, actor.staffId, code);
      return await createStaffToken(service, actor, order);
    },
  }),
  adminRoute({
    id: 'staff_tokens.revoke',
    method: 'DELETE',
    path: '/staff_tokens/{id}',
    status: 204,
    run: async ({ service, actor, params }) => {
      await revokeStaffToken(service, actor, params.id);
      return undefined;
    },
  }),
];

const LOG_ROUTE = adminRoute({
  id: 'staff_log.list',
  method: 'GET',
  path: '/staff_log',
  query: Type.Object(
    {
      staff: Type.Optional(Type.String()),
      target: Type.Optional(Type.String()),
      operation: Type.Optional(Type.String()),
      before: Type.Optional(Type.String()),
      limit: LIMIT,
    },
    CLOSED,
  ),
  run: async ({ service, actor, query: { limit, ...query } }) => {
    const { entries, hasMore } = await readStaffLog(service, {
      ...(given(query) as StaffLogQuery),
      limit: pageSize(limit),
      hidesLegal: !mayPerform(actor.role, 'legal_orders.list'),
    });
    return listOf(entries, hasMore);
  },
});

export const STAFF_ROUTES: readonly AdminRoute[] = [...PEOPLE_ROUTES, ...TOKEN_ROUTES, LOG_ROUTE];
