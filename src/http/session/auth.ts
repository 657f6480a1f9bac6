/** POST /auth-api.php: sign up, sign in, sign out, recover, and what the links in mails do. */
import { confirmAddress } from '../../domain/customers/confirm-address.ts';
import { recover } from '../../domain/customers/recover.ts';
import { requestReset } from '../../domain/customers/request-reset.ts';
import { resetPassword } from '../../domain/customers/reset-password.ts';
import { signIn } from '../../domain/customers/sign-in.ts';
import { type SignedUp, signUp } from '../../domain/customers/sign-up.ts';
import type { Opened } from '../../domain/sessions/open.ts';
import { signOut } from '../../domain/sessions/sign-out.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import { setCookie } from '../cookie.ts';
import type { Call, Operation, PostEndpoint } from '../endpoint.ts';
import { field } from '../form.ts';

const up: Operation = {
  audit: 'customer.sign_up',
  counted: 'signups',
  run: async (call) => {
    const { form } = call;
    const signedUp = await signUp(call.edge.service, call.visit, {
      email: field(form, 'email'),
      password: field(form, 'password'),
      passwordConfirm: field(form, 'password_confirm'),
    });
    return letIn(call, signedUp);
  },
};

const into: Operation = {
  audit: 'customer.sign_in',
  counted: 'failures',
  run: async (call) => {
    const { form } = call;
    const opened = await signIn(call.edge.service, call.visit, {
      email: field(form, 'email'),
      password: field(form, 'password'),
      code: field(form, 'code'),
    });
    return letIn(call, opened);
  },
};

const out: Operation = {
  audit: 'customer.sign_out',
  run: async (call) => {
    await signOut(call.edge.service, call.visit.actor);
    setCookie(call.edge.settings, call.reply, call.visit.visitor);
    return { ok: true, redirect: PANEL_PATHS.home };
  },
};

const recovery: Operation = {
  audit: 'customer.recover',
  counted: 'failures',
  run: async (call) => {
    const { form } = call;
    const recovered = await recover(call.edge.service, call.visit, {
      email: field(form, 'email'),
      recoveryCode: field(form, 'recovery_code'),
      password: field(form, 'password'),
      passwordConfirm: field(form, 'password_confirm'),
    });
    return letIn(call, recovered);
  },
};

/** The same answer, and the same work, whether there is such an account or not. */
const resetRequest: Operation = {
  audit: null,
  counted: 'mailings',
  run: async ({ edge, visit, form }) => {
    await requestReset(edge.service, visit.actor, field(form, 'email'));
    return { ok: true };
  },
};

const reset: Operation = {
  audit: 'customer.reset_password',
  run: async (call) => {
    const { form } = call;
    const opened = await resetPassword(call.edge.service, call.visit, {
      token: field(form, 'token'),
      password: field(form, 'password'),
      passwordConfirm: field(form, 'password_confirm'),
      code: field(form, 'code'),
    });
    return letIn(call, opened);
  },
};

const confirmation: Operation = {
  audit: 'customer.confirm_address',
  run: async ({ edge, visit, form }) => {
    const email = await confirmAddress(edge.service, visit.actor, field(form, 'token'));
    return { ok: true, email };
  },
};

/** The cookie of the new session, and the recovery code where there is a new one, shown this once. */
function letIn(call: Call, opened: Opened | SignedUp): object {
  setCookie(call.edge.settings, call.reply, opened.cookie);
  const code = 'recoveryCode' in opened ? { recovery_code: opened.recoveryCode } : {};
  return { ok: true, redirect: PANEL_PATHS.account, ...code };
}

export const auth: PostEndpoint = {
  path: '/auth-api.php',
  protected: false,
  operations: new Map([
    ['signup', up],
    ['register', up],
    ['sign_up', up],
    ['signin', into],
    ['login', into],
    ['sign_in', into],
    ['signout', out],
    ['logout', out],
    ['sign_out', out],
    ['recover', recovery],
    ['request_reset', resetRequest],
    ['reset', reset],
    ['confirm', confirmation],
  ]),
};
