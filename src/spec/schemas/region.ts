/** Region (SPEC "Region"). */
import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { nullable } from './parts.ts';

export const Region = Type.Object({
  id: Type.String({ examples: ['par'] }),
  object: Type.Literal('region'),
  name: Type.String(),
  country: Type.String({ description: 'ISO 3166-1 alpha-2.', examples: ['FR'] }),
  pop_id: Type.String(),
  available: Type.Boolean({ description: 'Whether you can deploy at least one plan right now.' }),
  ipv4_pool_remaining: Type.Integer({
    description: `Free IPv4 addresses; below ${LIMITS.ipv4PoolWarning}, deployments may stall.`,
  }),
  tor_onion: nullable(Type.String()),
});
export type Region = Static<typeof Region>;
