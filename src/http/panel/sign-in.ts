/** Signing up, in and out, and the way back in by the recovery code. */
import { recover } from '../../domain/customers/recover.ts';
import { signIn } from '../../domain/customers/sign-in.ts';
import { signUp } from '../../domain/customers/sign-up.ts';
import type { LetIn } from '../../domain/sessions/once-for-visitor.ts';
import { signOut } from '../../domain/sessions/sign-out.ts';
import { recoverView, recoveryCodeView, signInView, signOutView, signUpView } from '../../panel/sign-in.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import { type Form, field } from '../form.ts';
import { letInForm } from './let-in.ts';
import { nextOf, withNext } from './next.ts';
import type { Done, Look, OwnForm, PanelPage } from './page.ts';

const byEmail = (form: Form) => ({ email: field(form, 'email') });

const newPassword = (form: Form) => ({
  password: field(form, 'password'),
  passwordConfirm: field(form, 'password_confirm'),
});

/** The recovery code is shown once, on the page that lets him in. */
const showCode = ({ recoveryCode }: LetIn): Done => ({ shown: { recovery_code: recoveryCode ?? '' } });

const up = letInForm({
  audit: 'customer.sign_up',
  counted: 'signups',
  whom: byEmail,
  enter: ({ edge, form }, visit) => signUp(edge.service, visit, { ...byEmail(form), ...newPassword(form) }),
  done: showCode,
});

const into = letInForm({
  audit: 'customer.sign_in',
  counted: 'failures',
  whom: byEmail,
  enter: ({ edge, form }, visit) =>
    signIn(edge.service, visit, {
      email: field(form, 'email'),
      password: field(form, 'password'),
      code: field(form, 'code'),
    }),
  done: (_letIn, { request }) => ({ to: nextOf(request.url) ?? PANEL_PATHS.servers }),
});

const recovery = letInForm({
  audit: 'customer.recover',
  counted: 'failures',
  whom: byEmail,
  enter: ({ edge, form }, visit) =>
    recover(edge.service, visit, {
      ...byEmail(form),
      recoveryCode: field(form, 'recovery_code'),
      ...newPassword(form),
    }),
  done: showCode,
});

/** A second click finds nobody signed in, and leads to the same page. */
const out: OwnForm = {
  audit: 'customer.sign_out',
  unkeyed: true,
  run: async ({ edge, visit }) => {
    await signOut(edge.service, visit.actor);
    return { to: PANEL_PATHS.home, notice: 'signed_out', cookie: visit.visitor };
  },
};

/** Whoever is in already has no use for the page. */
function ifSignedIn({ signedIn, request }: Look): string | null {
  return signedIn ? (nextOf(request.url) ?? PANEL_PATHS.servers) : null;
}

export const SIGN_IN_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.signUp,
    access: 'anyone',
    elsewhere: ifSignedIn,
    show: ({ forms, shown, request }) => {
      const next = nextOf(request.url);
      if (shown) {
        const code = shown.texts.recovery_code ?? '';
        return recoveryCodeView({ title: 'Your account is ready', code, next: next ?? PANEL_PATHS.account });
      }
      return signUpView({ forms, signIn: withNext(PANEL_PATHS.signIn, next) });
    },
    forms: { sign_up: up },
  },
  {
    path: PANEL_PATHS.signIn,
    access: 'anyone',
    elsewhere: ifSignedIn,
    show: ({ forms, request }) =>
      signInView({ forms, signUp: withNext(PANEL_PATHS.signUp, nextOf(request.url)) }),
    forms: { sign_in: into },
  },
  {
    path: PANEL_PATHS.signOut,
    access: 'anyone',
    show: ({ forms, signedIn }) => signOutView({ forms, isSignedIn: signedIn !== null }),
    forms: { sign_out: out },
  },
  {
    path: PANEL_PATHS.recover,
    access: 'anyone',
    show: ({ forms, shown }) => {
      if (!shown) return recoverView({ forms });
      const code = shown.texts.recovery_code ?? '';
      return recoveryCodeView({ title: 'You are back in', code, next: PANEL_PATHS.account });
    },
    forms: { recover: recovery },
  },
];
