/** Server (SPEC "Server (`srv_`)", DECISIONS "Cycle in POST /servers"). */
import { type Static, Type } from 'typebox';
import { SERVER_STATUSES, SUSPENDED_REASONS } from '../states.ts';
import { nullable, oneOf } from './parts.ts';

const ServerIpv4 = Type.Object({
  address: Type.String(),
  gateway: Type.String(),
  rdns: nullable(Type.String()),
});

const ServerIpv6 = Type.Object({
  address: Type.String(),
  prefix: Type.String(),
  rdns: nullable(Type.String()),
});

export const Server = Type.Object({
  id: Type.String(),
  object: Type.Literal('server'),
  name: Type.String(),
  status: oneOf(SERVER_STATUSES),
  plan: Type.String(),
  region: Type.String(),
  image: Type.String(),
  ipv4: nullable(ServerIpv4),
  ipv6: nullable(ServerIpv6),
  ssh_keys: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  labels: Type.Record(Type.String(), Type.String()),
  billing_months: Type.Integer(),
  auto_renew: Type.Boolean(),
  paid_until: Type.String(),
  price_usd_cycle: Type.Number(),
  suspended_reason: nullable(oneOf(SUSPENDED_REASONS)),
  created_at: Type.String(),
  updated_at: Type.String(),
});
export type Server = Static<typeof Server>;
