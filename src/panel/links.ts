/** Where links in mails lead. A form does what the link is for: opening a link, as a mail scanner does, does nothing. */
import { LINK_PATHS, PANEL_PATHS } from '../spec/paths.ts';
import { page } from './bare-layout.ts';
import { type Html, html } from './html.ts';

/** What every form of a page carries. */
export interface FormSeal {
  readonly csrf: string;
  /** Of the link. */
  readonly token: string;
}

function sealed({ csrf, token }: FormSeal): Html {
  return html`<input type="hidden" name="_token" value="${csrf}">
<input type="hidden" name="token" value="${token}">`;
}

export function confirmPage(data: FormSeal & { readonly email: string; readonly isNew: boolean }): string {
  const about = data.isNew
    ? html`<p>This makes <strong>${data.email}</strong> the e-mail address of your account. The present one is told.</p>`
    : html`<p>This confirms that mail to <strong>${data.email}</strong> reaches you.</p>`;
  return page(
    data.isNew ? 'Change your e-mail address' : 'Confirm your e-mail address',
    html`${about}
<form method="post" action="${LINK_PATHS.confirm}">
${sealed(data)}
<p><button type="submit">${data.isNew ? 'Change the address' : 'Confirm the address'}</button></p>
</form>
`,
  );
}

export function confirmedPage(email: string): string {
  return page(
    'Your e-mail address is confirmed',
    html`<p>The e-mail address of your account is <strong>${email}</strong>.</p>
<p><a href="${PANEL_PATHS.account}">Your account</a></p>
`,
  );
}

/** `formerEmail`: the address that the account had before it was changed; null: only the password is set. */
export function resetPage(data: FormSeal & { readonly formerEmail: string | null }): string {
  const { formerEmail } = data;
  const about =
    formerEmail === null
      ? html`<p>All sessions of the account end, and you are signed in here.</p>`
      : html`<p>The e-mail address of your account was changed. This makes <strong>${formerEmail}</strong> its address again, sets a
new password, and ends all sessions. Look at your API tokens afterwards: end those that you do not know.</p>`;
  return page(
    formerEmail === null ? 'Set a new password' : 'Take your account back',
    html`${about}
<form method="post" action="${LINK_PATHS.reset}">
${sealed(data)}
<p><label>New password, 12 characters or more<br>
<input type="password" name="password" autocomplete="new-password" required></label></p>
<p><label>The same again<br>
<input type="password" name="password_confirm" autocomplete="new-password" required></label></p>
<p><label>One-time code, if your account asks for one<br>
<input type="text" name="code" inputmode="numeric" autocomplete="one-time-code"></label></p>
<p><button type="submit">Set the password</button></p>
</form>
`,
  );
}

export function resetDonePage(): string {
  return page(
    'Your password is set',
    html`<p>You are signed in, and nobody else is. Your recovery code is the one that you had.</p>
<p><a href="${PANEL_PATHS.account}">Your account</a></p>
`,
  );
}

/** For whoever has no link yet. */
export function askForResetPage({ csrf }: Pick<FormSeal, 'csrf'>): string {
  return page(
    'Set a new password',
    html`<p>We mail you a link. Without a mailbox, your recovery code sets a new password too.</p>
<form method="post" action="${LINK_PATHS.reset}">
<input type="hidden" name="_token" value="${csrf}">
<p><label>E-mail address of your account<br>
<input type="email" name="email" autocomplete="email" required></label></p>
<p><button type="submit">Mail me a link</button></p>
</form>
`,
  );
}

export function resetAskedPage(): string {
  return page(
    'Look into your mailbox',
    html`<p>If there is an account with this address, a link is on its way to it. It works for two hours. A few such mails are sent
in an hour, not more.</p>
`,
  );
}

/** What a form could not do, and why. */
export function linkProblemPage(message: string): string {
  return page(
    'This did not work',
    html`<p>${message}</p>
<p><a href="${LINK_PATHS.reset}">Ask for a link to set a new password</a> · <a href="${PANEL_PATHS.signIn}">Sign in</a></p>
`,
  );
}

/** For whoever comes to a page of links without one. */
export function noLinkPage(): string {
  return page(
    'Confirm your e-mail address',
    html`<p>Open the link from our mail: it leads here. <code>POST /account-api.php</code> with action
<code>resend_confirmation</code> has another one sent.</p>
`,
  );
}
