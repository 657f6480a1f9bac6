/** Floods of packets, and the blackholes of servers. */
import { Type } from 'typebox';
import type { Service } from '../../../domain/context.ts';
import { blackholeServer, requireLifted } from '../../../domain/servers/floods/blackhole.ts';
import {
  blackholeByFlood,
  type FloodQuery,
  liftByFlood,
  listFloodsForStaff,
  readFlood,
} from '../../../domain/servers/floods/read.ts';
import { findServerForOperator } from '../../../domain/servers/operator/find.ts';
import { toServerObject } from '../../../domain/staff/objects.ts';
import {
  BLACKHOLE_TARGETS,
  FLOOD_DIRECTIONS,
  FLOOD_LIMITS,
  FLOOD_STATES,
} from '../../../spec/staff/floods.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const NAME = Type.String({ maxLength: 255 });
const MINUTES = Type.Integer({
  ...{ minimum: 1, maximum: FLOOD_LIMITS.manualMaxMinutes, title: 'Minutes' },
  description: 'Then packets pass again. At most a week.',
});

async function shown(service: Service, id: string): Promise<object> {
  return toServerObject(await findServerForOperator(service, id));
}

export const FLOOD_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'floods.list',
    method: 'GET',
    path: '/floods',
    query: Type.Object(
      {
        state: Type.Optional(Type.Enum([...FLOOD_STATES])),
        direction: Type.Optional(Type.Enum([...FLOOD_DIRECTIONS])),
        customer: Type.Optional(NAME),
        server: Type.Optional(NAME),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const filter = given(query) as FloodQuery;
      const found = await listFloodsForStaff(service, { ...filter, limit: pageSize(limit) });
      return listOf(found.floods, found.hasMore);
    },
  }),
  adminRoute({
    id: 'floods.get',
    method: 'GET',
    path: '/floods/{id}',
    run: ({ service, params }) => readFlood(service, params.id),
  }),
  adminRoute({
    id: 'floods.blackhole',
    method: 'POST',
    path: '/floods/{id}/blackhole',
    body: Type.Object(
      {
        address: Type.Optional(
          Type.Enum([...BLACKHOLE_TARGETS], { description: 'Default: that of most packets of the flood.' }),
        ),
        minutes: MINUTES,
      },
      CLOSED,
    ),
    run: ({ service, params, body: { address, minutes } }) =>
      blackholeByFlood(service, params.id, { minutes, ...(address && { target: address }) }),
  }),
  adminRoute({
    id: 'floods.lift',
    method: 'POST',
    path: '/floods/{id}/lift',
    run: ({ service, params }) => liftByFlood(service, params.id),
  }),
  adminRoute({
    id: 'servers.blackhole',
    method: 'POST',
    path: '/servers/{id}/blackhole',
    body: Type.Object({ address: Type.Enum([...BLACKHOLE_TARGETS]), minutes: MINUTES }, CLOSED),
    run: async ({ service, params, body: { address, minutes } }) => {
      await blackholeServer(service, params.id, { target: address, minutes });
      return await shown(service, params.id);
    },
  }),
  adminRoute({
    id: 'servers.lift_blackhole',
    method: 'POST',
    path: '/servers/{id}/lift_blackhole',
    run: async ({ service, params }) => {
      await requireLifted(service, params.id);
      return await shown(service, params.id);
    },
  }),
];
