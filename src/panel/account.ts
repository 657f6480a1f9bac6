/** The account: its address, password and OpenPGP key. */
import { LIMITS } from '../spec/limits.ts';
import { ACCOUNT_PATHS } from '../spec/paths.ts';
import { accountTabs, passwordField, sessionTimeToRfc3339 } from './account-components.ts';
import { day, detailList, section, statusBadge } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';
import type { View } from './layout.ts';

interface Account {
  readonly id: number;
  readonly email: string;
  readonly email_confirmed: boolean;
  readonly pending_email: string | null;
  readonly openpgp_fingerprint: string | null;
  readonly totp: boolean;
  readonly created_at: string;
}

export function accountView(data: {
  readonly account: Account;
  /** Whether this service sends mail. */
  readonly sendsMail: boolean;
  readonly forms: FormContext;
}): View {
  const { account, sendsMail, forms } = data;
  return {
    title: 'Account',
    section: 'account',
    body: html`${accountTabs(ACCOUNT_PATHS.overview)}
${accountDetails(account)}
${sendsMail && !account.email_confirmed && form(forms, { name: 'resend' }, html`<button class="plain">Mail the link to confirm the address again</button>`)}
<div class="columns">
${section('Change the password', passwordForm(forms))}
${section('Change the e-mail address', emailForm(forms, sendsMail))}
</div>
${section('Encrypted mail', openPgpSection(account, forms), 'openpgp')}`,
  };
}

function accountDetails(account: Account): Html {
  const confirmed = account.email_confirmed ? statusBadge('confirmed', 'good') : statusBadge('not confirmed');
  const codes = account.totp ? statusBadge('on', 'good') : statusBadge('off');
  return detailList([
    ['E-mail address', html`${account.email} · ${confirmed}`],
    [
      'Address to come',
      account.pending_email && html`${account.pending_email}, once the link that was mailed there is used`,
    ],
    ['One-time codes', html`${codes} · <a href="${ACCOUNT_PATHS.totp}">Change that</a>`],
    [
      'Mails to you',
      account.openpgp_fingerprint
        ? statusBadge('encrypted with OpenPGP', 'good')
        : statusBadge('not encrypted'),
    ],
    ['Account number', html`<code>${account.id}</code>`],
    ['Since', day(sessionTimeToRfc3339(account.created_at))],
  ]);
}

function passwordForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'password');
  const typed = { type: 'password', required: true, autocomplete: 'new-password' } as const;
  const hint = `At least ${LIMITS.passwordMinChars} characters.`;
  return form(
    forms,
    { name: 'password' },
    html`${passwordField(fields)}
${fields.text('new_password', 'New password', { ...typed, hint })}
${fields.text('new_password_confirm', 'The new one again', typed)}
<button>Change the password</button>
<p class="hint">All other sessions end. Your API tokens stay.</p>`,
  );
}

function emailForm(forms: FormContext, sendsMail: boolean): Html {
  const fields = new Fields(forms, 'email');
  const typed = { type: 'email', required: true, autocomplete: 'email' } as const;
  const after = sendsMail
    ? 'We mail a link there; the address is yours once you have used it. The present address is told, and can take the change back for a week.'
    : 'The address changes at once: this service sends no mail.';
  return form(
    forms,
    { name: 'email' },
    html`${fields.text('email', 'New e-mail address', typed)}
${passwordField(fields)}
<button>Change the address</button>
<p class="hint">${after}</p>`,
  );
}

function openPgpSection({ openpgp_fingerprint: fingerprint }: Account, forms: FormContext): Html {
  if (fingerprint === null)
    return html`<p>With your public key, what we mail you can be read by you alone. Its subject and its sender stay in the clear.</p>
${keyForm(forms, 'Encrypt mails to this key')}`;
  const fields = new Fields(forms, 'no_openpgp');
  return html`<p>Mails to you are encrypted to the key <code>${groupFingerprint(fingerprint)}</code>.</p>
<details${forms.refused?.name === 'openpgp' && new Html(' open')}><summary>Use another key</summary>
${keyForm(forms, 'Encrypt mails to this key')}</details>
<details${forms.refused?.name === 'no_openpgp' && new Html(' open')}><summary>Remove the key</summary>
${form(
  forms,
  { name: 'no_openpgp' },
  html`<p>Mails that are sent from then on can be read by everybody who carries them.</p>
${passwordField(fields)}
<button class="danger">Remove the key</button>`,
)}</details>`;
}

function keyForm(forms: FormContext, button: string): Html {
  const fields = new Fields(forms, 'openpgp');
  return form(
    forms,
    { name: 'openpgp' },
    html`${fields.textarea('openpgp_key', 'Public key', {
      rows: 6,
      required: true,
      hint: 'Armored: from “-----BEGIN PGP PUBLIC KEY BLOCK-----” to its end. Never the private one.',
    })}
${passwordField(fields)}
<button>${button}</button>`,
  );
}

/** As people compare it: four characters at a time. */
function groupFingerprint(text: string): string {
  return text.match(/.{1,4}/g)?.join(' ') ?? text;
}
