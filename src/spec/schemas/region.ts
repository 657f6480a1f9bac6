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
  available: Type.Boolean({ description: 'Whether at least one plan can be deployed right now.' }),
  ipv4_pool_remaining: Type.Integer({
    description: `IPv4 addresses that are free now; below ${LIMITS.ipv4PoolWarning} deployments may stall.`,
  }),
  tor_onion: nullable(Type.String()),
});
export type Region = Static<typeof Region>;
