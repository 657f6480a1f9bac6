/**
 * POST /account-api.php: the password, API tokens, email, OpenPGP key, second factor, sessions, and deletion
 * of the account.
 */

import { deleteAccount } from '../../domain/customers/deletion/start.ts';
import { changeEmail, resendConfirmation } from '../../domain/customers/email/change.ts';
import { setOpenPgpKey } from '../../domain/customers/openpgp-key.ts';
import { changePassword } from '../../domain/customers/password.ts';
import { getOwnAccount } from '../../domain/customers/read.ts';
import { confirmTotp, startTotp, disableTotp as switchOff } from '../../domain/customers/totp.ts';
import { endSession, listSessions } from '../../domain/sessions/active.ts';
import { createToken, listTokens, revokeToken } from '../../domain/tokens/tokens.ts';
import { centsToUsd } from '../../kernel/money.ts';
import type { Operation, PostEndpoint } from '../admission/forms.ts';
import { setSessionCookie } from '../cookie.ts';
import { field } from '../form.ts';

const changePasswordOperation: Operation = {
  audit: 'customer.change_password',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    await changePassword(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      newPassword: field(form, 'new_password'),
      revokeTokens: field(form, 'revoke_tokens') === '1',
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

const getAccountOperation: Operation = {
  audit: null,
  run: async ({ edge, customer }) => ({ ok: true, ...(await getOwnAccount(edge.service, customer())) }),
};

/** `mailed` is false if the address is already confirmed. */
const resendConfirmationOperation: Operation = {
  audit: 'customer.resend_confirmation',
  run: async ({ edge, customer }) => ({
    ok: true,
    mailed: await resendConfirmation(edge.service, customer()),
  }),
};

const changeEmailOperation: Operation = {
  audit: 'customer.change_email',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const change = await changeEmail(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      email: field(form, 'email'),
    });
    return { ok: true, email: change.email, pending_email: change.pendingEmail };
  },
};

const setOpenPgpKeyOperation: Operation = {
  audit: 'customer.set_openpgp_key',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const fingerprint = await setOpenPgpKey(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      armored: field(form, 'openpgp_key'),
    });
    return { ok: true, openpgp_fingerprint: fingerprint };
  },
};

/** Starts enrollment without `code`, and completes it with one. */
const enableTotpOperation: Operation = {
  audit: 'customer.enable_totp',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const code = field(form, 'code');
    if (code.trim() === '') {
      const currentPassword = field(form, 'current_password');
      return { ok: true, ...(await startTotp(edge.service, customer(), { currentPassword })) };
    }
    await confirmTotp(edge.service, customer(), { code });
    return { ok: true, enabled: true };
  },
};

const disableTotpOperation: Operation = {
  audit: 'customer.disable_totp',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    await switchOff(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      code: field(form, 'code'),
    });
    return { ok: true };
  },
};

const listSessionsOperation: Operation = {
  audit: null,
  run: async ({ edge, customer }) => ({ ok: true, sessions: await listSessions(edge.service, customer()) }),
};

const endSessionOperation: Operation = {
  audit: 'customer.end_session',
  run: async ({ edge, form, customer, reply, visit }) => {
    const own = await endSession(edge.service, customer(), field(form, 'id'));
    if (own) setSessionCookie(edge.settings, reply, visit.visitor);
    return { ok: true };
  },
};

/** `completed` is false while the account's resources are still being removed. */
const deleteAccountOperation: Operation = {
  audit: 'customer.delete',
  limitedBy: 'failures',
  run: async ({ edge, form, customer, reply, visit }) => {
    const { completed, forfeitedCents } = await deleteAccount(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      destroyServers: field(form, 'destroy_servers') === 'yes',
    });
    setSessionCookie(edge.settings, reply, visit.visitor);
    return { ok: true, completed, forfeited_usd: centsToUsd(forfeitedCents) };
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
    ['get_account', getAccountOperation],
    ['get', getAccountOperation],
    ['resend_confirmation', resendConfirmationOperation],
    ['change_email', changeEmailOperation],
    ['set_openpgp_key', setOpenPgpKeyOperation],
    ['enable_totp', enableTotpOperation],
    ['disable_totp', disableTotpOperation],
    ['list_sessions', listSessionsOperation],
    ['end_session', endSessionOperation],
    ['delete_account', deleteAccountOperation],
  ]),
  errorsWithStatus200: ['bad_credentials', 'bad_code', 'weak_password', 'bad_email', 'email_taken'],
};
