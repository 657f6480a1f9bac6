/** The account's email address, password, and OpenPGP key. */
import { LIMITS } from '../../spec/limits.ts';
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import { day, detailList, section, statusBadge } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { accountTabs, ownerFields, passwordField, sessionTimeToRfc3339 } from './components.ts';
import { newsSection } from './news.ts';

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
  readonly hasPasskeys: boolean;
  readonly wantsNews: boolean;
  readonly forms: FormContext;
}): View {
  const { account, sendsMail, hasPasskeys, wantsNews, forms } = data;
  return {
    title: 'Account',
    section: 'account',
    scripts: hasPasskeys ? ['passkeys'] : [],
    body: html`${accountTabs(ACCOUNT_PATHS.overview)}
${accountDetails(account)}
${
  sendsMail &&
  !account.email_confirmed &&
  form(forms, { name: 'resend' }, html`<button class="plain">Resend confirmation email</button>`)
}
<div class="columns">
${section('Change password', passwordForm(forms))}
${section('Change email address', emailForm(forms, sendsMail, hasPasskeys))}
</div>
${section('Encrypted email', openPgpSection(account, forms), 'openpgp')}
${sendsMail && newsSection(wantsNews, forms)}`,
  };
}

function accountDetails(account: Account): Html {
  const confirmed = account.email_confirmed ? statusBadge('confirmed', 'good') : statusBadge('not confirmed');
  const codes = account.totp ? statusBadge('on', 'good') : statusBadge('off');
  return detailList([
    ['Email address', html`${account.email} · ${confirmed}`],
    [
      'Pending email address',
      account.pending_email && html`${account.pending_email} (open the link that we emailed to it)`,
    ],
    ['One-time codes', html`${codes} · <a href="${ACCOUNT_PATHS.totp}">Change</a>`],
    ['Email encryption', account.openpgp_fingerprint ? statusBadge('on', 'good') : statusBadge('off')],
    ['Account number', html`<code>${account.id}</code>`],
    ['Created', day(sessionTimeToRfc3339(account.created_at))],
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
${fields.text('new_password_confirm', 'Confirm new password', typed)}
${fields.checkbox('revoke_tokens', 'Revoke all API tokens, remove all passkeys, and pause all webhooks', {
  value: true,
  hint: 'Clear this only if no one else can know your password.',
})}
<button>Change password</button>
<p class="hint">This signs out all other sessions.</p>`,
  );
}

function emailForm(forms: FormContext, sendsMail: boolean, hasPasskeys: boolean): Html {
  const fields = new Fields(forms, 'email');
  const typed = { type: 'email', required: true, autocomplete: 'email' } as const;
  const after = sendsMail
    ? 'We’ll email a link to the new address. The change takes effect when you open it. We also notify ' +
      'your current address, from which you can undo the change for a week.'
    : 'The address changes immediately. This service does not send email.';
  return form(
    forms,
    { name: 'email' },
    html`${fields.text('email', 'New email address', typed)}
${ownerFields(fields, hasPasskeys)}
<button>Change email address</button>
<p class="hint">${after}</p>`,
  );
}

function openPgpSection({ openpgp_fingerprint: fingerprint }: Account, forms: FormContext): Html {
  if (fingerprint === null)
    return html`<p>Add your OpenPGP public key to encrypt the emails that we send you. The subject and the
sender stay readable.</p>
${keyForm(forms, 'Encrypt emails with this key')}`;
  const fields = new Fields(forms, 'no_openpgp');
  return html`<p>Emails to you are encrypted with the key <code>${groupFingerprint(fingerprint)}</code>.</p>
<details${forms.refused?.name === 'openpgp' && new Html(' open')}><summary>Replace key</summary>
${keyForm(forms, 'Encrypt emails with this key')}</details>
<details${forms.refused?.name === 'no_openpgp' && new Html(' open')}><summary>Remove key</summary>
${form(
  forms,
  { name: 'no_openpgp' },
  html`<p>Future emails to you will not be encrypted.</p>
${passwordField(fields)}
<button class="danger">Remove key</button>`,
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
      hint: 'Starts with “-----BEGIN PGP PUBLIC KEY BLOCK-----”. Never paste your private key.',
    })}
${passwordField(fields)}
<button>${button}</button>`,
  );
}

/** Groups a fingerprint by four characters, as people compare it. */
function groupFingerprint(text: string): string {
  return text.match(/.{1,4}/g)?.join(' ') ?? text;
}
