/** POST /account-api.php: the password, the API tokens, and the account itself (own-account.ts). */
import { changePassword } from '../../domain/customers/change-password.ts';
import { createToken } from '../../domain/tokens/create-token.ts';
import { listTokens } from '../../domain/tokens/list-tokens.ts';
import { revokeToken } from '../../domain/tokens/revoke-token.ts';
import type { Operation, PostEndpoint } from '../endpoint.ts';
import { field } from '../form.ts';
import { OWN_ACCOUNT } from './own-account.ts';

const password: Operation = {
  audit: 'customer.change_password',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    await changePassword(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      newPassword: field(form, 'new_password'),
    });
    return { ok: true };
  },
};

const create: Operation = {
  audit: 'token.create',
  rest: 'tokens.create',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    const { token, plaintext } = await createToken(edge.service, customer(), {
      name: field(form, 'name'),
      scope: field(form, 'scope'),
      expiresAt: field(form, 'expires_at'),
      currentPassword: field(form, 'current_password'),
    });
    return { ok: true, id: token.id, token: plaintext };
  },
};

const list: Operation = {
  audit: null,
  rest: 'tokens.list',
  run: async ({ edge, customer }) => ({ ok: true, tokens: await listTokens(edge.service, customer()) }),
};

const revoke: Operation = {
  audit: 'token.revoke',
  rest: 'tokens.delete',
  run: async ({ edge, form, customer }) => {
    await revokeToken(edge.service, customer(), field(form, 'id'));
    return { ok: true };
  },
};

export const account: PostEndpoint = {
  path: '/account-api.php',
  protected: true,
  operations: new Map([
    ['change_password', password],
    ['create_token', create],
    ['list_tokens', list],
    ['revoke_token', revoke],
    ...OWN_ACCOUNT,
  ]),
  plainRefusals: ['bad_credentials', 'bad_code', 'weak_password', 'bad_email', 'email_taken'],
};
