/** POST /auth-api.php: sign-up, sign-in, sign-out, recovery, and the links in mails. */
import { confirmAddress } from '../../domain/customers/email/change.ts';
import {
  beginPasskeySignIn,
  findClaimedAccount,
  signInWithPasskey,
} from '../../domain/customers/passkeys/sign-in.ts';
import { type RecoverableSession, recoverAccount } from '../../domain/customers/recovery.ts';
import { requestReset, resetPassword } from '../../domain/customers/reset-password.ts';
import { signIn, signUp } from '../../domain/customers/sign-in.ts';
import { signOut } from '../../domain/sessions/active.ts';
import type { OpenedSession } from '../../domain/sessions/open.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import type { Call, Operation, PostEndpoint } from '../admission/forms.ts';
import { rememberDevice, setSessionCookie } from '../cookie.ts';
import { field } from '../form.ts';

const signUpOperation: Operation = {
  audit: 'customer.sign_up',
  limitedBy: 'signups',
  run: async (call) => {
    const { form } = call;
    const signedUp = await signUp(call.edge.service, call.visit, {
      email: field(form, 'email'),
      password: field(form, 'password'),
      passwordConfirm: field(form, 'password_confirm'),
    });
    return respondWithSession(call, signedUp);
  },
};

const signInOperation: Operation = {
  audit: 'customer.sign_in',
  limitedBy: 'failures',
  run: async (call) => {
    const { form } = call;
    const opened = await signIn(call.edge.service, call.visit, {
      email: field(form, 'email'),
      password: field(form, 'password'),
      code: field(form, 'code'),
      passkey: field(form, 'passkey'),
    });
    return respondWithSession(call, opened);
  },
};

const beginPasskeySignInOperation: Operation = {
  audit: null,
  limitedBy: 'failures',
  // Without an address, the options are the same for everyone.
  guess: { isMade: (form) => field(form, 'email') !== '' },
  run: async ({ edge, visit, form }) => ({
    ok: true,
    options: await beginPasskeySignIn(edge.service, visit, {
      email: field(form, 'email'),
      password: field(form, 'password'),
    }),
  }),
};

const passkeySignInOperation: Operation = {
  audit: 'customer.sign_in',
  limitedBy: 'failures',
  guess: { findAccount: (service, form) => findClaimedAccount(service, field(form, 'passkey')) },
  run: async (call) => {
    const form = { passkey: field(call.form, 'passkey') };
    const opened = await signInWithPasskey(call.edge.service, call.visit, form);
    await rememberDevice(call, opened.cookie);
    return respondWithSession(call, opened);
  },
};

const signOutOperation: Operation = {
  audit: 'customer.sign_out',
  run: async (call) => {
    await signOut(call.edge.service, call.visit.actor);
    setSessionCookie(call.edge.settings, call.reply, call.visit.visitor);
    return { ok: true, redirect: PANEL_PATHS.home };
  },
};

const recoverOperation: Operation = {
  audit: 'customer.recover',
  limitedBy: 'failures',
  guess: { secret: 'recovery code' },
  run: async (call) => {
    const { form } = call;
    const recovered = await recoverAccount(call.edge.service, call.visit, {
      email: field(form, 'email'),
      recoveryCode: field(form, 'recovery_code'),
      password: field(form, 'password'),
      passwordConfirm: field(form, 'password_confirm'),
    });
    return respondWithSession(call, recovered);
  },
};

/** Responds identically, and does the same work, whether or not the account exists. */
const requestResetOperation: Operation = {
  audit: null,
  limitedBy: 'mailings',
  run: async ({ edge, visit, form }) => {
    await requestReset(edge.service, visit.actor, field(form, 'email'));
    return { ok: true };
  },
};

const resetOperation: Operation = {
  audit: 'customer.reset_password',
  run: async (call) => {
    const { form } = call;
    const opened = await resetPassword(call.edge.service, call.visit, {
      token: field(form, 'token'),
      password: field(form, 'password'),
      passwordConfirm: field(form, 'password_confirm'),
      code: field(form, 'code'),
    });
    return respondWithSession(call, opened);
  },
};

const confirmOperation: Operation = {
  audit: 'customer.confirm_address',
  run: async ({ edge, visit, form }) => {
    const email = await confirmAddress(edge.service, visit.actor, field(form, 'token'));
    return { ok: true, email };
  },
};

/** Sets the new session's cookie, and includes a new recovery code, which is shown only once. */
function respondWithSession(call: Call, opened: OpenedSession | RecoverableSession): object {
  setSessionCookie(call.edge.settings, call.reply, opened.cookie);
  const code = 'recoveryCode' in opened ? { recovery_code: opened.recoveryCode } : {};
  return { ok: true, redirect: PANEL_PATHS.account, ...code };
}

export const authEndpoint: PostEndpoint = {
  path: '/auth-api.php',
  protected: false,
  operations: new Map([
    ['signup', signUpOperation],
    ['register', signUpOperation],
    ['sign_up', signUpOperation],
    ['signin', signInOperation],
    ['login', signInOperation],
    ['sign_in', signInOperation],
    ['begin_passkey_signin', beginPasskeySignInOperation],
    ['passkey_signin', passkeySignInOperation],
    ['signout', signOutOperation],
    ['logout', signOutOperation],
    ['sign_out', signOutOperation],
    ['recover', recoverOperation],
    ['request_reset', requestResetOperation],
    ['reset', resetOperation],
    ['confirm', confirmOperation],
  ]),
};
