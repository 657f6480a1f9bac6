/** Signing up, in and out, and the way back in by the recovery code. */
import { LIMITS } from '../spec/limits.ts';
import { LINK_PATHS, PANEL_PATHS } from '../spec/paths.ts';
import { copyable } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';

const PASSWORD_HINT = `At least ${LIMITS.passwordMinChars} characters.`;

/** A password that is made up, twice. */
function newPasswordFields(fields: Fields, label: string): Html {
  const typed = { type: 'password', required: true, autocomplete: 'new-password' } as const;
  return html`${fields.text('password', label, { ...typed, hint: PASSWORD_HINT })}
${fields.text('password_confirm', 'The same again', typed)}`;
}

function emailField(fields: Fields, hint?: string): Html {
  const typed = { type: 'email', required: true, autocomplete: 'username', ...(hint && { hint }) } as const;
  return fields.text('email', 'E-mail address', typed);
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
    body: html`<p>An address and a password, nothing else: no name, no identity check, no payment yet.</p>
${form(
  forms,
  { name: 'sign_up' },
  html`${emailField(fields, 'Notices about your servers and your balance go there. You may use one made for this.')}
${newPasswordFields(fields, 'Password')}
<button>Sign up</button>`,
)}
<p class="soft">You have an account? <a href="${signIn}">Sign in</a></p>`,
  };
}

/** The one page that shows it. */
export function recoveryCodeView(data: {
  readonly title: string;
  readonly code: string;
  readonly next: string;
}): View {
  return {
    title: data.title,
    body: html`<div class="once"><p><strong>Your recovery code</strong></p>
<p>${copyable(data.code)}</p>
<p>Write it down and keep it apart from your password. It opens your account when the password is lost, or the phone with
your one-time codes, and it is not shown again. It works once; then you get another.</p>
<p><a class="button" href="${data.next}">I have kept it: go on</a></p></div>`,
  };
}

export function signInView({
  forms,
  signUp,
}: {
  readonly forms: FormContext;
  readonly signUp: string;
}): View {
  const fields = new Fields(forms, 'sign_in');
  const wasRefused = forms.refused?.name === 'sign_in';
  return {
    title: 'Sign in',
    body: html`${form(
      forms,
      { name: 'sign_in' },
      html`${emailField(fields)}
${fields.text('password', 'Password', {
  type: 'password',
  required: true,
  autocomplete: 'current-password',
  ...(wasRefused && { hint: 'Type it once more: no page holds what was typed here.' }),
})}
${codeField(fields)}
<button>Sign in</button>`,
    )}
<p>Password or phone lost? <a href="${LINK_PATHS.reset}">Have a link mailed that sets a new password</a>, or
<a href="${PANEL_PATHS.recover}">use your recovery code</a>.</p>
<p class="soft">No account yet? <a href="${signUp}">Sign up</a></p>`,
  };
}

/** Of the second factor; it is needed where the account was told to ask for one. */
export function codeField(fields: Fields): Html {
  const isRequired = fields.problem('code') !== null;
  return fields.text('code', isRequired ? 'One-time code' : 'One-time code, if your account asks for one', {
    required: isRequired,
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    size: 12,
  });
}

export function signOutView(data: { readonly forms: FormContext; readonly isSignedIn: boolean }): View {
  const body = data.isSignedIn
    ? html`<p>This ends your session in this browser. Your servers run on.</p>
${form(data.forms, { name: 'sign_out' }, html`<button>Sign out</button>`)}`
    : html`<p>You are not signed in.</p>
<p><a class="button" href="${PANEL_PATHS.signIn}">Sign in</a></p>`;
  return { title: 'Sign out', body };
}

export function recoverView({ forms }: { readonly forms: FormContext }): View {
  const fields = new Fields(forms, 'recover');
  return {
    title: 'Use your recovery code',
    body: html`<p>This sets a new password, ends all sessions and switches one-time codes off. You get a new recovery code. Your API tokens
stay as they are.</p>
${form(
  forms,
  { name: 'recover' },
  html`${emailField(fields)}
${fields.text('recovery_code', 'Recovery code', {
  required: true,
  autocomplete: 'off',
  hint: 'Five groups of letters and digits, from when you signed up. Capitals and dashes do not matter.',
})}
${newPasswordFields(fields, 'New password')}
<button>Set the password and sign in</button>`,
)}
<p class="soft">No code either? <a href="${LINK_PATHS.reset}">Have a link mailed</a> to the address of your account.</p>`,
  };
}
