/** The account and its limits (API 1.7). */
import { type Static, Type } from 'typebox';
import { SCOPES } from '../scopes.ts';
import { Id, nullable, oneOf, Time } from './parts.ts';
import { ShownTokenLimits } from './token-limits.ts';

export const Account = Type.Object({
  id: Id('cus_'),
  object: Type.Literal('account'),
  status: oneOf(['active', 'frozen'], {
    description: '`frozen` by the operator: you can read, but not change anything.',
  }),
  email: nullable(Type.String({ description: 'Null for a token whose scope is not `billing`.' })),
  created_at: Time,
  token: Type.Object(
    {
      id: Id('tok_'),
      name: Type.String(),
      scope: oneOf(SCOPES),
      expires_at: nullable(Time),
      limits: nullable(ShownTokenLimits),
    },
    { description: 'The token of the request.' },
  ),
});
export type Account = Static<typeof Account>;

export const Limit = Type.Object({
  object: Type.Literal('limit'),
  name: Type.String({ examples: ['servers'] }),
  limit: Type.Integer({ description: 'Above it, a request gets 422 with the issue `limit_reached`.' }),
  used: nullable(
    Type.Integer({
      description:
        'How much of it you use now. Null for a limit per server, for top-ups if the scope of the token ' +
        'is not `billing`, and for a token limited to resources, labels, or regions.',
    }),
  ),
  per: oneOf(['account', 'server', 'region']),
});
export type Limit = Static<typeof Limit>;
