/** Sign-up, sign-in, sign-out, and recovery with the recovery code. */
import { LIMITS } from '../../spec/limits.ts';
import { LINK_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { copyable } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { passkeyButton } from './components.ts';

export const PASSWORD_HINT = `At least ${LIMITS.passwordMinChars} characters.`;

/** Returns the fields for a new password and its confirmation. */
function newPasswordFields(fields: Fields, label: string): Html {
  const typed = { type: 'password', required: true, autocomplete: 'new-password' } as const;
  return html`${fields.text('password', label, { ...typed, hint: PASSWORD_HINT })}
${fields.text('password_confirm', 'Confirm password', typed)}`;
}

function emailField(fields: Fields, hint?: string): Html {
  const typed = { type: 'email', required: true, autocomplete: 'username', ...(hint && { hint }) } as const;
  return fields.text('email', 'Email address', typed);
}

export function signUpView({
  forms,
  signIn,
}: {
  readonly forms: FormContext;
  readonly signIn: string;
}): View {
  const fields = new Fields(forms, 'sign_up');
  return {
    title: 'Sign up',
    body: html`<p>All you need is an email address and a password. No name, no identity check, no payment
yet.</p>
${form(
  forms,
  { name: 'sign_up' },
  html`${emailField(fields, 'We send notices about your servers and your balance here. An alias is fine.')}
${newPasswordFields(fields, 'Password')}
<button>Sign up</button>`,
)}
<p class="soft">Already have an account? <a href="${signIn}">Sign in</a></p>`,
  };
}

/** The only page that shows the recovery code. */
export function recoveryCodeView(data: {
  readonly title: string;
  readonly code: string;
  readonly next: string;
}): View {
  return {
    title: data.title,
    body: html`<div class="once"><p><strong>Your recovery code</strong></p>
<p>${copyable(data.code)}</p>
<p>Save it, and keep it separate from your password. It restores access if you lose your password or the
phone with your one-time codes. It is not shown again. It works once; then you receive a new one.</p>
<p><a class="button" href="${data.next}">I’ve saved it, continue</a></p></div>`,
  };
}

export function signInView({
  forms,
  signUp,
  next,
  offersPasskeys,
}: {
  readonly forms: FormContext;
  readonly signUp: string;
  /** The page after signing in. */
  readonly next: string;
  readonly offersPasskeys: boolean;
}): View {
  const fields = new Fields(forms, 'sign_in');
  const wasRefused = forms.refused?.name === 'sign_in';
  return {
    title: 'Sign in',
    scripts: offersPasskeys ? ['passkeys'] : [],
    body: html`${form(
      forms,
      { name: 'sign_in' },
      html`${emailField(fields)}
${fields.text('password', 'Password', {
  type: 'password',
  required: true,
  autocomplete: 'current-password',
  ...(wasRefused && { hint: 'Enter your password again. We never fill it in for you.' }),
})}
${codeField(fields)}
${
  offersPasskeys &&
  fields.problem('code') !== null &&
  passkeyButton('factor', 'Use a passkey instead of the code')
}
<button>Sign in</button>`,
    )}
${offersPasskeys && passkeySignIn(next)}
<p>Lost your password or phone? <a href="${LINK_PATHS.reset}">Get a password reset link by email</a>, or
<a href="${PANEL_PATHS.recover}">use your recovery code</a>.</p>
<p class="soft">Don’t have an account? <a href="${signUp}">Sign up</a></p>`,
  };
}

function passkeySignIn(next: string): Html {
  return html`<p data-passkeys hidden><button type="button" class="plain" data-passkey="sign_in"
data-next="${next}">Sign in with a passkey</button></p>`;
}

/** Returns the field for the second factor. It becomes required once the server asked for a code. */
export function codeField(fields: Fields): Html {
  const isRequired = fields.problem('code') !== null;
  return fields.text('code', isRequired ? 'One-time code' : 'One-time code (if enabled)', {
    required: isRequired,
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    size: 12,
  });
}

export function signOutView(data: { readonly forms: FormContext; readonly isSignedIn: boolean }): View {
  const body = data.isSignedIn
    ? html`<p>This ends your session in this browser. Your servers keep running.</p>
${form(data.forms, { name: 'sign_out' }, html`<button>Sign out</button>`)}`
    : html`<p>You are not signed in.</p>
<p><a class="button" href="${PANEL_PATHS.signIn}">Sign in</a></p>`;
  return { title: 'Sign out', body };
}

export function recoverView({ forms }: { readonly forms: FormContext }): View {
  const fields = new Fields(forms, 'recover');
  return {
    title: 'Use your recovery code',
    body: html`<p>This sets a new password, ends all sessions, and turns off one-time codes.
It revokes all API tokens, removes all passkeys, and pauses all webhooks. You receive a new recovery
code.</p>
${form(
  forms,
  { name: 'recover' },
  html`${emailField(fields)}
${fields.text('recovery_code', 'Recovery code', {
  required: true,
  autocomplete: 'off',
  hint: 'Five groups of letters and digits, shown when you signed up. Capitals and dashes are optional.',
})}
${newPasswordFields(fields, 'New password')}
<button>Set password and sign in</button>`,
)}
<p class="soft">No recovery code? <a href="${LINK_PATHS.reset}">Get a link by email</a>.</p>`,
  };
}
