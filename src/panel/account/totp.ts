/** One-time codes as a second factor: on, off, or waiting for the first code. */
import { ACCOUNT_PATHS, TOTP_QR_PATH } from '../../spec/paths.ts';
import { section, statusBadge } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { accountTabs, passwordField } from './components.ts';

interface TotpData {
  readonly forms: FormContext;
  readonly isOn: boolean;
  /** The side of the pending secret's QR code; null if no setup is pending. */
  readonly qrCodePx: number | null;
  /** Shown only on the page that follows the password. */
  readonly secret: { readonly text: string; readonly uri: string } | null;
}

export function totpView(data: TotpData): View {
  return {
    title: 'One-time codes',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    body: html`${accountTabs(ACCOUNT_PATHS.totp)}
<p>Status: ${data.isOn ? statusBadge('on', 'good') : statusBadge('off')}</p>
<p>With one-time codes, you sign in with your password and a six-digit code from an authenticator app on
your phone, so your password alone is not enough. If you lose your phone, use your recovery code:
you set a new password with it, and one-time codes are turned off.</p>
${
  data.isOn
    ? disableForm(data.forms)
    : html`${data.qrCodePx !== null && pendingSetup(data, data.qrCodePx)}${enableForm(data)}`
}`,
  };
}

function pendingSetup({ forms, secret }: TotpData, sidePx: number): Html {
  const fields = new Fields(forms, 'confirm');
  const text = secret?.text.match(/.{1,4}/g)?.join(' ');
  return section(
    'Set up your authenticator app',
    html`<p>Scan this QR code with your authenticator app, then enter the code that the app shows.</p>
<p><img src="${TOTP_QR_PATH}" width="${sidePx}" height="${sidePx}"
alt="QR code with the secret for your authenticator app"></p>
${
  secret &&
  html`<div class="once"><p>Can’t scan it? Enter this key: <code class="copy" data-copy>${text}</code></p>
<p><a href="${secret.uri}">Open in an authenticator app on this device</a></p>
<p>The key is shown only once. Settings: time-based, six digits, SHA-1, 30 seconds.</p></div>\n`
}${form(
  forms,
  { name: 'confirm' },
  html`${fields.text('code', 'Code shown in the app', {
    required: true,
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    size: 12,
  })}
<button>Turn on one-time codes</button>`,
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
<button${isPending && html` class="plain"`}>${isPending ? 'Create a new QR code' : 'Start setup'}</button>`,
  );
  if (isPending) return section('Start over', content);
  return section(
    'Turn on one-time codes',
    html`<p>You need an authenticator app. Nothing changes until you enter your first code.</p>
${content}`,
  );
}

function disableForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'disable');
  return section(
    'Turn off one-time codes',
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
<button class="danger">Turn off one-time codes</button>`,
    ),
  );
}
