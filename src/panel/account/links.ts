/** Pages that emailed links open. Only the form acts: a mail scanner opens links and must change nothing. */
import { LINK_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { codeField, PASSWORD_HINT } from './sign-in.ts';

interface LinkData {
  readonly forms: FormContext;
  readonly token: string;
}

export function confirmView(data: LinkData & { readonly email: string; readonly isNew: boolean }): View {
  const about = data.isNew
    ? html`<p>This makes <strong>${data.email}</strong> the email address of your account. We’ll notify your
current address.</p>`
    : html`<p>This confirms that <strong>${data.email}</strong> is your email address.</p>`;
  return {
    title: data.isNew ? 'Change your email address' : 'Confirm your email address',
    body: html`${about}
${form(
  data.forms,
  { name: 'confirm' },
  html`<input type="hidden" name="token" value="${data.token}">
<button>${data.isNew ? 'Change email address' : 'Confirm email address'}</button>`,
)}`,
  };
}

export function confirmedView(email: string): View {
  return {
    title: 'Email address confirmed',
    body: html`<p>The email address of your account is <strong>${email}</strong>.</p>
<p><a class="button" href="${PANEL_PATHS.account}">Your account</a></p>`,
  };
}

/** `previousEmail` is the address to restore after an email change; null resets only the password. */
export function resetView(data: LinkData & { readonly previousEmail: string | null }): View {
  const { previousEmail, forms } = data;
  const fields = new Fields(forms, 'reset');
  const typed = { type: 'password', required: true, autocomplete: 'new-password' } as const;
  const about =
    previousEmail === null
      ? html`<p>This ends all other sessions and signs you in here.</p>`
      : html`<p>The email address of your account was changed. This restores
<strong>${previousEmail}</strong>, sets a new password, and ends all other sessions. Then check your API
tokens and revoke any that you don’t recognize.</p>`;
  return {
    title: previousEmail === null ? 'Set a new password' : 'Recover your account',
    body: html`${about}
${form(
  forms,
  { name: 'reset' },
  html`<input type="hidden" name="token" value="${data.token}">
${fields.text('password', 'New password', { ...typed, hint: PASSWORD_HINT })}
${fields.text('password_confirm', 'Confirm password', typed)}
${codeField(fields)}
<button>Set password</button>`,
)}`,
  };
}

export function resetDoneView(): View {
  return {
    title: 'Password set',
    body: html`<p>You are signed in. All other sessions were signed out. Your recovery code is still
valid.</p>
<p><a class="button" href="${PANEL_PATHS.account}">Your account</a></p>`,
  };
}

/** The form that requests a reset link. */
export function requestResetView(forms: FormContext): View {
  const fields = new Fields(forms, 'ask');
  return {
    title: 'Set a new password',
    body: html`<p>We’ll email you a link. If you can’t access your email, use <a
href="${PANEL_PATHS.recover}">your recovery code</a> instead.</p>
${form(
  forms,
  { name: 'ask' },
  html`${fields.text('email', 'Email address', {
    type: 'email',
    required: true,
    autocomplete: 'username',
  })}
<button>Email me a link</button>`,
)}`,
  };
}

export function resetRequestedView(): View {
  return {
    title: 'Check your email',
    body: html`<p>If an account with this address exists, we’ve emailed it a link. The link works for two
hours. We send only a few of these emails per hour.</p>`,
  };
}

/** A link that is no longer valid. Pass null as `reason` if the banner already shows it. */
export function invalidLinkView(reason: string | null): View {
  return {
    title: 'This link doesn’t work',
    body: html`${reason && html`<p>${reason}</p>\n`}<p><a
href="${LINK_PATHS.reset}">Request a password reset link</a> ·
<a href="${PANEL_PATHS.signIn}">Sign in</a></p>`,
  };
}

/** Shown when a link page is opened without a link's token. */
export function missingLinkView(): View {
  return {
    title: 'Confirm your email address',
    body: html`<p>Open the link in our email to confirm your address. To get another email, go to
<a href="${PANEL_PATHS.account}">your account</a>.</p>`,
  };
}
