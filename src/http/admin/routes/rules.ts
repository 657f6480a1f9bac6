/** Maintenance windows, policies, and switches. */
import { Type } from 'typebox';
import {
  endMaintenance,
  endMaintenanceWindow,
  MAINTENANCE_MINUTES_MAX,
  startMaintenance,
} from '../../../domain/rules/maintenance.ts';
import { blockByPolicy, unblockByPolicy } from '../../../domain/rules/policies.ts';
import { setSwitch } from '../../../domain/rules/switches.ts';
import {
  listPolicyObjects,
  listSwitchObjects,
  listWindowObjects,
  readPolicyObject,
  readSwitchObject,
  readWindowObject,
  toWindowObject,
} from '../../../domain/staff/rules.ts';
import { OPERATOR_TEXT } from '../../../kernel/operator-error.ts';
import { OPERATIONS } from '../../../spec/operations.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, listOf, ONE_LINE } from './lists.ts';

const line = (title: string, description: string) =>
  Type.String({ ...ONE_LINE, maxLength: OPERATOR_TEXT.lineMaxChars, title, description });

const WINDOW_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'maintenance.list',
    method: 'GET',
    path: '/maintenance',
    run: async ({ service }) => listOf(await listWindowObjects(service), false),
  }),
  adminRoute({
    id: 'maintenance.get',
    method: 'GET',
    path: '/maintenance/{id}',
    run: ({ service, params }) => readWindowObject(service, params.id),
  }),
  adminRoute({
    id: 'maintenance.start',
    method: 'POST',
    path: '/maintenance',
    status: 201,
    body: Type.Object(
      {
        operation: Type.Optional(Type.Enum([...OPERATIONS], { description: 'Empty: every operation.' })),
        minutes: Type.Integer({ minimum: 1, maximum: MAINTENANCE_MINUTES_MAX, description: 'From now on.' }),
        message: Type.Optional(line('Message', 'Customers who are refused read it.')),
      },
      CLOSED,
    ),
    run: async ({ service, body: { operation = null, minutes, message = null } }) =>
      toWindowObject(await startMaintenance(service, { operation, minutes, reason: message })),
  }),
  adminRoute({
    id: 'maintenance.end_one',
    method: 'POST',
    path: '/maintenance/{id}/end',
    run: async ({ service, params }) => toWindowObject(await endMaintenanceWindow(service, params.id)),
  }),
  adminRoute({
    id: 'maintenance.end',
    method: 'POST',
    path: '/maintenance/end',
    run: async ({ service }) => ({ object: 'maintenance_end', ended: await endMaintenance(service) }),
  }),
];

const POLICY_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'policies.list',
    method: 'GET',
    path: '/policies',
    run: async ({ service }) => listOf(await listPolicyObjects(service), false),
  }),
  adminRoute({
    id: 'policies.get',
    method: 'GET',
    path: '/policies/{id}',
    run: ({ service, params }) => readPolicyObject(service, params.id),
  }),
  adminRoute({
    id: 'policies.block',
    method: 'POST',
    path: '/policies',
    status: 201,
    body: Type.Object(
      {
        operation: Type.Enum([...OPERATIONS]),
        country: Type.Optional(
          Type.String({
            ...{ pattern: '^[A-Z]{2}$', maxLength: 2 },
            description: 'Only clients from this country, such as DE, or XX for unknown. Empty: any.',
          }),
        ),
        region: Type.Optional(
          Type.String({
            ...{ minLength: 1, maxLength: 100 },
            description: 'Only for this region: with servers.create and volumes.create. Empty: any.',
          }),
        ),
        order: line('Legal order', 'Customers who are refused read it.'),
      },
      CLOSED,
    ),
    run: async ({ service, body: { operation, country = null, region = null, order } }) => {
      const id = await blockByPolicy(service, { operation, country, region, order });
      return await readPolicyObject(service, id);
    },
  }),
  adminRoute({
    id: 'policies.unblock',
    method: 'POST',
    path: '/policies/{id}/unblock',
    run: async ({ service, params }) => {
      const policy = await readPolicyObject(service, params.id);
      await unblockByPolicy(service, params.id);
      return policy;
    },
  }),
];

const SWITCH_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'switches.list',
    method: 'GET',
    path: '/switches',
    run: async ({ service }) => listOf(await listSwitchObjects(service), false),
  }),
  adminRoute({
    id: 'switches.get',
    method: 'GET',
    path: '/switches/{id}',
    run: ({ service, params }) => readSwitchObject(service, params.id),
  }),
  adminRoute({
    id: 'switches.set',
    method: 'POST',
    path: '/switches/{id}',
    body: Type.Object(
      {
        state: Type.Enum(['on', 'off']),
        message: Type.Optional(
          line('Message', 'Shown with the state of the switch. Customers read that of deploys.'),
        ),
      },
      CLOSED,
    ),
    run: async ({ service, params, body: { state, message = null } }) => {
      const { id } = await readSwitchObject(service, params.id);
      const changed = await setSwitch(service, id, state === 'on', message);
      return { ...(await readSwitchObject(service, id)), changed };
    },
  }),
];

export const RULE_ROUTES: readonly AdminRoute[] = [...WINDOW_ROUTES, ...POLICY_ROUTES, ...SWITCH_ROUTES];
