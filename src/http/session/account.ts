/** POST /account-api.php: the password, API tokens, and the account itself (account-actions.ts). */
import { changePassword } from '../../domain/customers/password.ts';
import { createToken, listTokens, revokeToken } from '../../domain/tokens/tokens.ts';
import type { Operation, PostEndpoint } from '../admission/forms.ts';
import { field } from '../form.ts';
import { ACCOUNT_ACTIONS } from './account-actions.ts';

const changePasswordOperation: Operation = {
  audit: 'customer.change_password',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    await changePassword(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      newPassword: field(form, 'new_password'),
    });
    return { ok: true };
  },
};

const createTokenOperation: Operation = {
  audit: 'token.create',
  rest: 'tokens.create',
  limitedBy: 'failures',
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

const listTokensOperation: Operation = {
  audit: null,
  rest: 'tokens.list',
  run: async ({ edge, customer }) => ({ ok: true, tokens: await listTokens(edge.service, customer()) }),
};

const revokeTokenOperation: Operation = {
  audit: 'token.revoke',
  rest: 'tokens.delete',
  run: async ({ edge, form, customer }) => {
    await revokeToken(edge.service, customer(), field(form, 'id'));
    return { ok: true };
  },
};

export const accountEndpoint: PostEndpoint = {
  path: '/account-api.php',
  protected: true,
  operations: new Map([
    ['change_password', changePasswordOperation],
    ['create_token', createTokenOperation],
    ['list_tokens', listTokensOperation],
    ['revoke_token', revokeTokenOperation],
    ...ACCOUNT_ACTIONS,
  ]),
  errorsWithStatus200: ['bad_credentials', 'bad_code', 'weak_password', 'bad_email', 'email_taken'],
};
