/** API token (SPEC "API token"). Only the response to its creation contains the plaintext. */
import { type Static, Type } from 'typebox';
import { SCOPES } from '../scopes.ts';
import { DisplayName, Id, nullable, oneOf, Time } from './parts.ts';
import { ShownTokenLimits, TokenLimitsBody } from './token-limits.ts';

const fields = {
  id: Id('tok_'),
  object: Type.Literal('api_token'),
  name: Type.String(),
  scope: oneOf(SCOPES),
  last_used_at: nullable(Time),
  expires_at: nullable(Time),
  created_by_token: nullable(
    Type.String({
      description: 'The token that created it, and with which it is revoked; null if a person did.',
      examples: ['tok_aaaqk3m7qzb5x2l6v4t7n8wyja'],
    }),
  ),
  limits: nullable(ShownTokenLimits),
  spent_usd: nullable(
    Type.Number({ description: 'Spent since its creation, or in this month. Null without limits.' }),
  ),
  created_at: Time,
};

export const ApiToken = Type.Object(fields);
export type ApiToken = Static<typeof ApiToken>;

export const NewApiToken = Type.Object({
  ...fields,
  token: Type.String({ description: 'The plaintext, `<prefix>_live_<52 chars>`. Shown only once.' }),
});
export type NewApiToken = Static<typeof NewApiToken>;

export const ApiTokenBody = Type.Object(
  {
    name: DisplayName,
    scope: oneOf(SCOPES, { description: 'At most the scope of the requesting token.' }),
    expires_at: Type.Optional(
      nullable(
        Type.String({
          format: 'date-time',
          description: 'No later than the requesting token expires: a later time becomes that time.',
          examples: ['2026-01-31T12:00:00Z'],
        }),
      ),
    ),
    limits: Type.Optional(nullable(TokenLimitsBody)),
  },
  { additionalProperties: false },
);
export type ApiTokenBody = Static<typeof ApiTokenBody>;

export const ApiTokenPatch = Type.Object(
  { name: Type.Optional(DisplayName), limits: Type.Optional(TokenLimitsBody) },
  { additionalProperties: false },
);
export type ApiTokenPatch = Static<typeof ApiTokenPatch>;
