/** API token (SPEC "API token"), without the plaintext that only the answer to its creation holds. */
import { type Static, Type } from 'typebox';
import { SCOPES } from '../scopes.ts';
import { Id, nullable, oneOf, Time } from './parts.ts';

export const ApiToken = Type.Object({
  id: Id('tok_'),
  object: Type.Literal('api_token'),
  name: Type.String(),
  scope: oneOf(SCOPES),
  last_used_at: nullable(Time),
  expires_at: nullable(Time),
  created_at: Time,
});
export type ApiToken = Static<typeof ApiToken>;
