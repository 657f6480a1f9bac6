/** Where links in mails lead. A form does what the link is for: opening a link, as a mail scanner does, does nothing. */
import { LIMITS } from '../spec/limits.ts';
import { LINK_PATHS, PANEL_PATHS } from '../spec/paths.ts';
import { Fields, type FormContext, form } from './form.ts';
import { html } from './html.ts';
import type { View } from './layout.ts';
import { codeField } from './sign-in.ts';

interface LinkData {
  readonly forms: FormContext;
  readonly token: string;
}

export function confirmView(data: LinkData & { readonly email: string; readonly isNew: boolean }): View {
  const about = data.isNew
    ? html`<p>This makes <strong>${data.email}</strong> the e-mail address of your account. The present one is told.</p>`
    : html`<p>This confirms that mail to <strong>${data.email}</strong> reaches you.</p>`;
  return {
    title: data.isNew ? 'Change your e-mail address' : 'Confirm your e-mail address',
    body: html`${about}
${form(
  data.forms,
  { name: 'confirm' },
  html`<input type="hidden" name="token" value="${data.token}">
<button>${data.isNew ? 'Change the address' : 'Confirm the address'}</button>`,
)}`,
  };
}

export function confirmedView(email: string): View {
  return {
    title: 'Your e-mail address is confirmed',
    body: html`<p>The e-mail address of your account is <strong>${email}</strong>.</p>
<p><a class="button" href="${PANEL_PATHS.account}">Your account</a></p>`,
  };
}

/** `formerEmail`: the address that the account had before it was changed; null: only the password is set. */
export function resetView(data: LinkData & { readonly previousEmail: string | null }): View {
  const { previousEmail, forms } = data;
  const fields = new Fields(forms, 'reset');
  const typed = { type: 'password', required: true, autocomplete: 'new-password' } as const;
  const about =
    previousEmail === null
      ? html`<p>All sessions of the account end, and you are signed in here.</p>`
      : html`<p>The e-mail address of your account was changed. This makes <strong>${previousEmail}</strong> its address again, sets a
new password, and ends all sessions. Look at your API tokens afterwards: end those that you do not know.</p>`;
  return {
    title: previousEmail === null ? 'Set a new password' : 'Take your account back',
    body: html`${about}
${form(
  forms,
  { name: 'reset' },
  html`<input type="hidden" name="token" value="${data.token}">
${fields.text('password', 'New password', { ...typed, hint: `At least ${LIMITS.passwordMinChars} characters.` })}
${fields.text('password_confirm', 'The same again', typed)}
${codeField(fields)}
<button>Set the password</button>`,
)}`,
  };
}

export function resetDoneView(): View {
  return {
    title: 'Your password is set',
    body: html`<p>You are signed in, and nobody else is. Your recovery code is the one that you had.</p>
<p><a class="button" href="${PANEL_PATHS.account}">Your account</a></p>`,
  };
}

/** For whoever has no link yet. */
export function requestResetView(forms: FormContext): View {
  const fields = new Fields(forms, 'ask');
  return {
    title: 'Set a new password',
    body: html`<p>We mail you a link. Without a mailbox, <a href="${PANEL_PATHS.recover}">your recovery code</a> sets a new password too.</p>
${form(
  forms,
  { name: 'ask' },
  html`${fields.text('email', 'E-mail address of your account', {
    type: 'email',
    required: true,
    autocomplete: 'username',
  })}
<button>Mail me a link</button>`,
)}`,
  };
}

export function resetRequestedView(): View {
  return {
    title: 'Look into your mailbox',
    body: html`<p>If there is an account with this address, a link is on its way to it. It works for two hours. A few such mails are sent
in an hour, not more.</p>`,
  };
}

/** A link that does nothing any more. `why` null: it is said above the page. */
export function invalidLinkView(reason: string | null): View {
  return {
    title: 'This did not work',
    body: html`${reason && html`<p>${reason}</p>\n`}<p><a href="${LINK_PATHS.reset}">Ask for a link to set a new password</a> · <a href="${PANEL_PATHS.signIn}">Sign in</a></p>`,
  };
}

/** For whoever comes to a page of links without one. */
export function missingLinkView(): View {
  return {
    title: 'Confirm your e-mail address',
    body: html`<p>Open the link from our mail: it leads here. <a href="${PANEL_PATHS.account}">Your account</a> has another one
sent.</p>`,
  };
}
