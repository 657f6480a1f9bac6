/** API token (SPEC "API token"), without the plaintext that only the answer to its creation holds. */
import { type Static, Type } from 'typebox';
import { nullable } from './nullable.ts';

export const ApiToken = Type.Object({
  id: Type.String(),
  object: Type.Literal('api_token'),
  name: Type.String(),
  scope: Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('billing')]),
  last_used_at: nullable(Type.String()),
  expires_at: nullable(Type.String()),
  created_at: Type.String(),
});
export type ApiToken = Static<typeof ApiToken>;
