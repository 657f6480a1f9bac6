/** The account: its limits, and its API tokens. */
import { listLimits } from '../../../domain/customers/limits.ts';
import { getTokenAccount } from '../../../domain/customers/read.ts';
import { updateToken } from '../../../domain/tokens/limits/change.ts';
import { createTokenByToken, getToken, pageTokens, revokeToken } from '../../../domain/tokens/tokens.ts';
import { BY_AGE_OR_NAME } from '../../../spec/lists.ts';
import { Account, Limit } from '../../../spec/schemas/account.ts';
import { ApiToken, ApiTokenBody, ApiTokenPatch, NewApiToken } from '../../../spec/schemas/api-token.ts';
import { SCOPES } from '../../../spec/scopes.ts';
import { listRoute, type Route, route } from '../route.ts';

export const ACCOUNT_ROUTES: readonly Route[] = [
  route({
    id: 'account.get',
    method: 'GET',
    path: '/account',
    scope: 'read',
    summary: 'Retrieve the account',
    description: 'Includes the token of the request: which one it is, its scope, and when it expires.',
    reply: Account,
    run: ({ service, actor }) => getTokenAccount(service, actor),
  }),
  listRoute({
    id: 'limits.list',
    path: '/account/limits',
    scope: 'read',
    summary: 'List the limits of the account',
    description: 'Shows how much of each limit you use.',
    list: { filters: {}, sorts: ['name'], defaultSort: 'name' },
    reply: Limit,
    run: ({ service, actor, page }) => listLimits(service, actor, page),
  }),
  listRoute({
    id: 'tokens.list',
    path: '/account/tokens',
    scope: 'read',
    summary: 'List API tokens',
    list: { ...BY_AGE_OR_NAME, filters: { scope: { allowed: SCOPES }, name: {} } },
    reply: ApiToken,
    run: ({ service, actor, page }) => pageTokens(service, actor, page),
  }),
  route({
    id: 'tokens.create',
    method: 'POST',
    path: '/account/tokens',
    scope: 'write',
    summary: 'Create an API token',
    description:
      'The response contains the plaintext token, which we show only once. A token can create tokens only ' +
      'up to its own scope, that expire no later than it does, and that are revoked with it.',
    status: 201,
    errorStatuses: [422],
    audit: 'token.create',
    body: ApiTokenBody,
    example: { name: 'deploys', scope: 'write', expires_at: '2030-01-31T12:00:00Z' },
    reply: NewApiToken,
    run: ({ service, actor, body }) => createTokenByToken(service, actor, body),
  }),
  route({
    id: 'tokens.get',
    method: 'GET',
    path: '/account/tokens/{id}',
    scope: 'read',
    summary: 'Retrieve an API token',
    reply: ApiToken,
    run: ({ service, actor, params }) => getToken(service, actor, params.id),
  }),
  route({
    id: 'tokens.update',
    method: 'PATCH',
    path: '/account/tokens/{id}',
    scope: 'write',
    summary: 'Rename an API token or narrow its limits',
    description:
      'Changes only the given limits, which can only be narrowed: anything else returns 403 with the issue ' +
      '`not_allowed`. The new limits also apply to all tokens that it created.',
    errorStatuses: [422],
    audit: 'token.update',
    body: ApiTokenPatch,
    example: { limits: { spend_usd: 50, spend_period: 'month', max_servers: 5 } },
    reply: ApiToken,
    run: ({ service, actor, params, body }) => updateToken(service, actor, params.id, body),
  }),
  route({
    id: 'tokens.delete',
    method: 'DELETE',
    path: '/account/tokens/{id}',
    scope: 'write',
    summary: 'Revoke an API token',
    description:
      'Takes effect immediately, for a token of any scope, and for all tokens that it created. A token can ' +
      'revoke itself. To rotate a token, revoke it with the token that it created, which then stays valid.',
    status: 204,
    audit: 'token.revoke',
    reply: null,
    run: ({ service, actor, params }) => revokeToken(service, actor, params.id),
  }),
];
