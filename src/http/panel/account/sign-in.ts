/** Sign-up, sign-in, sign-out, and recovery with the recovery code. */
import { findRelyingParty } from '../../../domain/customers/passkeys/challenge.ts';
import { recoverAccount } from '../../../domain/customers/recovery.ts';
import { signIn, signUp } from '../../../domain/customers/sign-in.ts';
import { signOut } from '../../../domain/sessions/active.ts';
import type { SignInResponse } from '../../../domain/sessions/visitor-idempotency.ts';
import {
  recoverView,
  recoveryCodeView,
  signInView,
  signOutView,
  signUpView,
} from '../../../panel/account/sign-in.ts';
import { DEPLOY_PATH, PANEL_PATHS } from '../../../spec/paths.ts';
import { type Form, field } from '../../form.ts';
import type { CustomForm, FormResult, PageContext, PanelPage } from '../page-types.ts';
import { sessionForm } from './session-form.ts';

const readEmail = (form: Form) => ({ email: field(form, 'email') });

const readNewPassword = (form: Form) => ({
  password: field(form, 'password'),
  passwordConfirm: field(form, 'password_confirm'),
});

/** Shows the recovery code once, on the page after signing in. */
const showRecoveryCode = ({ recoveryCode }: SignInResponse): FormResult => ({
  shown: { recovery_code: recoveryCode ?? '' },
});

const signUpForm = sessionForm({
  audit: 'customer.sign_up',
  limitedBy: 'signups',
  identifyAccount: readEmail,
  openSession: ({ edge, form }, visit) =>
    signUp(edge.service, visit, { ...readEmail(form), ...readNewPassword(form) }),
  done: showRecoveryCode,
});

const signInForm = sessionForm({
  audit: 'customer.sign_in',
  limitedBy: 'failures',
  identifyAccount: readEmail,
  openSession: ({ edge, form }, visit) =>
    signIn(edge.service, visit, {
      email: field(form, 'email'),
      password: field(form, 'password'),
      code: field(form, 'code'),
      passkey: field(form, 'passkey'),
    }),
  done: (_letIn, { request }) => ({ to: nextPath(request.url) ?? PANEL_PATHS.servers }),
});

const recoverForm = sessionForm({
  audit: 'customer.recover',
  limitedBy: 'failures',
  guess: { secret: 'recovery code' },
  identifyAccount: readEmail,
  openSession: ({ edge, form }, visit) =>
    recoverAccount(edge.service, visit, {
      ...readEmail(form),
      recoveryCode: field(form, 'recovery_code'),
      ...readNewPassword(form),
    }),
  done: showRecoveryCode,
});

/** A second click finds no session and leads to the same page. */
const signOutForm: CustomForm = {
  audit: 'customer.sign_out',
  skipIdempotency: true,
  run: async ({ edge, visit }) => {
    await signOut(edge.service, visit.actor);
    return { to: PANEL_PATHS.home, notice: 'signed_out', cookie: visit.visitor };
  },
};

/** Redirects a visitor who is already signed in. */
function redirectIfSignedIn({ signedIn, request }: PageContext): string | null {
  return signedIn ? (nextPath(request.url) ?? PANEL_PATHS.servers) : null;
}

export const SIGN_IN_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.signUp,
    access: 'anyone',
    redirect: redirectIfSignedIn,
    render: ({ forms, shown, request }) => {
      const next = nextPath(request.url);
      if (shown) {
        const code = shown.texts.recovery_code ?? '';
        return recoveryCodeView({ title: 'Your account is ready', code, next: next ?? DEPLOY_PATH });
      }
      return signUpView({ forms, signIn: withNextPath(PANEL_PATHS.signIn, next) });
    },
    forms: { sign_up: signUpForm },
  },
  {
    path: PANEL_PATHS.signIn,
    access: 'anyone',
    redirect: redirectIfSignedIn,
    render: ({ forms, request, service }) => {
      const next = nextPath(request.url);
      return signInView({
        forms,
        signUp: withNextPath(PANEL_PATHS.signUp, next),
        next: next ?? PANEL_PATHS.servers,
        offersPasskeys: findRelyingParty(service) !== null,
      });
    },
    forms: { sign_in: signInForm },
  },
  {
    path: PANEL_PATHS.signOut,
    access: 'anyone',
    render: ({ forms, signedIn }) => signOutView({ forms, isSignedIn: signedIn !== null }),
    forms: { sign_out: signOutForm },
  },
  {
    path: PANEL_PATHS.recover,
    access: 'anyone',
    render: ({ forms, shown }) => {
      if (!shown) return recoverView({ forms });
      const code = shown.texts.recovery_code ?? '';
      return recoveryCodeView({ title: 'Your account is recovered', code, next: PANEL_PATHS.account });
    },
    forms: { recover: recoverForm },
  },
];

/** `?next=…`: the local page to return to after signing in. */
const NEXT_PARAM = 'next';
const MAX_CHARS = 2_000;

/** Returns the next path in the URL, or null if there is none or it is not local. */
export function nextPath(url: string): string | null {
  const start = url.indexOf('?');
  const path = start < 0 ? null : new URLSearchParams(url.slice(start)).get(NEXT_PARAM);
  return path !== null && isLocalPath(path) ? path : null;
}

/** Adds the same next path to another page's path. */
export function withNextPath(path: string, next: string | null): string {
  return next === null ? path : `${path}?${new URLSearchParams({ [NEXT_PARAM]: next })}`;
}

/**
 * Whether a browser stays on this site when it follows the path. Two slashes or a backslash can start another
 * host, and dots before them can hide that. Only visible ASCII belongs in a header.
 */
export function isLocalPath(path: string): boolean {
  return path.length <= MAX_CHARS && /^\/[\x21-\x7e]*$/.test(path) && !/\/\/|\\/.test(path);
}
