/** API token (SPEC "API token"), without the plaintext that only the answer to its creation holds. */
import { type Static, Type } from 'typebox';

export const ApiToken = Type.Object({
  id: Type.String(),
  object: Type.Literal('api_token'),
  name: Type.String(),
  scope: Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('billing')]),
  last_used_at: Type.Union([Type.String(), Type.Null()]),
  expires_at: Type.Union([Type.String(), Type.Null()]),
  created_at: Type.String(),
});
export type ApiToken = Static<typeof ApiToken>;
