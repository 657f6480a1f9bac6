/** One-time codes as a second factor: on, off, or begun and waiting for a first code. */
import { ACCOUNT_PATHS, TOTP_QR_PATH } from '../spec/paths.ts';
import { accountTabs, passwordField } from './account-components.ts';
import { section, statusBadge } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';

interface TotpData {
  readonly forms: FormContext;
  readonly isOn: boolean;
  /** The side of the QR code of the secret that is begun; null: none is. */
  readonly qrCodePx: number | null;
  /** On the one page that follows the password. */
  readonly secret: { readonly text: string; readonly uri: string } | null;
}

export function totpView(data: TotpData): View {
  return {
    title: 'One-time codes',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    body: html`${accountTabs(ACCOUNT_PATHS.totp)}
<p>One-time codes are ${data.isOn ? statusBadge('on', 'good') : statusBadge('off')}</p>
<p>With them on, signing in takes your password and six digits that an authenticator on your
phone shows. Whoever learns the password alone stays out. A lost phone is what your recovery code is for: it sets a new password
and switches them off.</p>
${data.isOn ? disableForm(data.forms) : html`${data.qrCodePx !== null && pendingSetup(data, data.qrCodePx)}${enableForm(data)}`}`,
  };
}

function pendingSetup({ forms, secret }: TotpData, sidePx: number): Html {
  const fields = new Fields(forms, 'confirm');
  const text = secret?.text.match(/.{1,4}/g)?.join(' ');
  return section(
    'Add it to your authenticator',
    html`<p><img src="${TOTP_QR_PATH}" width="${sidePx}" height="${sidePx}" alt="QR code of the secret; it says what the text beside it says"></p>
${
  secret &&
  html`<div class="once"><p>Or type the secret: <code class="copy" data-copy>${text}</code></p>
<p><a href="${secret.uri}">Open it in an authenticator on this device</a></p>
<p>It is not shown again as text. Time-based, six digits, SHA-1, every 30 seconds.</p></div>\n`
}${form(
  forms,
  { name: 'confirm' },
  html`${fields.text('code', 'The code that it shows now', {
    required: true,
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    size: 12,
  })}
<button>Switch one-time codes on</button>`,
)}`,
  );
}

function enableForm({ forms, qrCodePx }: TotpData): Html {
  const fields = new Fields(forms, 'begin');
  const isPending = qrCodePx !== null;
  const content = form(
    forms,
    { name: 'begin' },
    html`${passwordField(fields)}
<button${isPending && html` class="plain"`}>${isPending ? 'Begin anew, with another secret' : 'Begin'}</button>`,
  );
  if (isPending) return section('Begin anew', content);
  return section(
    'Switch them on',
    html`<p>Have an authenticator at hand: an application that keeps secrets and shows codes. Nothing changes until you have typed a first
code.</p>
${content}`,
  );
}

function disableForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'disable');
  return section(
    'Switch them off',
    form(
      forms,
      { name: 'disable' },
      html`${passwordField(fields)}
${fields.text('code', 'One-time code', {
  required: true,
  autocomplete: 'one-time-code',
  inputmode: 'numeric',
  size: 12,
})}
<button class="danger">Switch one-time codes off</button>`,
    ),
  );
}
