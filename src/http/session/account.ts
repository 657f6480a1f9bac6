/**
 * POST /account-api.php: the password, API tokens, email, OpenPGP key, second factor, sessions, and deletion
 * of the account.
 */

import { deleteAccount } from '../../domain/customers/deletion/start.ts';
import { changeEmail, resendConfirmation } from '../../domain/customers/email/change.ts';
import { setOpenPgpKey } from '../../domain/customers/openpgp-key.ts';
import { beginOwnerCheck, type OwnerProof } from '../../domain/customers/owner.ts';
import {
  addPasskey,
  beginPasskey,
  listPasskeys,
  removePasskey,
  renamePasskey,
} from '../../domain/customers/passkeys/manage.ts';
import { changePassword } from '../../domain/customers/password.ts';
import { getOwnAccount } from '../../domain/customers/read.ts';
import { confirmTotp, startTotp, disableTotp as switchOff } from '../../domain/customers/totp.ts';
import { endSession, listSessions } from '../../domain/sessions/active.ts';
import { createToken, listTokens, revokeToken } from '../../domain/tokens/tokens.ts';
import { fail } from '../../kernel/fail.ts';
import { centsToUsd } from '../../kernel/money.ts';
import type { Operation, PostEndpoint } from '../admission/forms.ts';
import { setSessionCookie } from '../cookie.ts';
import { type Form, field } from '../form.ts';

/** The current password, or a passkey in its place. */
const ownerProof = (form: Form): OwnerProof => ({
  currentPassword: field(form, 'current_password'),
  passkey: field(form, 'passkey'),
});

/** Refuses another value: a client that sends `true` would believe that an intruder is locked out. */
function readRevokeTokens(form: Form): boolean {
  const value = field(form, 'revoke_tokens');
  if (value !== '' && value !== '0' && value !== '1') {
    fail('bad_request', { field: 'revoke_tokens' }, 'revoke_tokens must be 0 or 1.');
  }
  return value === '1';
}

const changePasswordOperation: Operation = {
  audit: 'customer.change_password',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    await changePassword(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      newPassword: field(form, 'new_password'),
      revokeTokens: readRevokeTokens(form),
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
      ...ownerProof(form),
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
      ...ownerProof(form),
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

/** Returns the options for the browser to create a passkey. `add_passkey` sends what it created. */
const beginPasskeyOperation: Operation = {
  audit: 'customer.add_passkey',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => ({
    ok: true,
    options: await beginPasskey(edge.service, customer(), {
      ...ownerProof(form),
      code: field(form, 'code'),
    }),
  }),
};

const addPasskeyOperation: Operation = {
  audit: 'customer.add_passkey',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const wanted = { name: field(form, 'name'), answer: field(form, 'passkey') };
    return { ok: true, passkey: await addPasskey(edge.service, customer(), wanted) };
  },
};

const listPasskeysOperation: Operation = {
  audit: null,
  run: async ({ edge, customer }) => ({ ok: true, passkeys: await listPasskeys(edge.service, customer()) }),
};

const renamePasskeyOperation: Operation = {
  audit: 'customer.rename_passkey',
  resource: (form) => field(form, 'id'),
  run: async ({ edge, form, customer }) => {
    const wanted = { id: field(form, 'id'), name: field(form, 'name') };
    await renamePasskey(edge.service, customer(), wanted);
    return { ok: true };
  },
};

const removePasskeyOperation: Operation = {
  audit: 'customer.remove_passkey',
  resource: (form) => field(form, 'id'),
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    await removePasskey(edge.service, customer(), { id: field(form, 'id'), ...ownerProof(form) });
    return { ok: true };
  },
};

/** Returns the options for the browser to ask for a passkey in place of the current password. */
const beginPasskeyCheckOperation: Operation = {
  audit: null,
  run: async ({ edge, customer }) => ({
    ok: true,
    options: await beginOwnerCheck(edge.service, customer()),
  }),
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
      ...ownerProof(form),
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
    ['begin_passkey', beginPasskeyOperation],
    ['add_passkey', addPasskeyOperation],
    ['list_passkeys', listPasskeysOperation],
    ['rename_passkey', renamePasskeyOperation],
    ['remove_passkey', removePasskeyOperation],
    ['begin_passkey_check', beginPasskeyCheckOperation],
    ['list_sessions', listSessionsOperation],
    ['end_session', endSessionOperation],
    ['delete_account', deleteAccountOperation],
  ]),
  errorsWithStatus200: [
    'bad_credentials',
    'bad_code',
    'bad_passkey',
    'weak_password',
    'bad_email',
    'email_taken',
  ],
};
