/** Signing in, and accepting an invitation. */
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { codeField } from './account.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';

interface SignInData {
  readonly next: string;
  /** The options for the browser; null where it has no passkeys. */
  readonly passkeyOptions: object | null;
}

export function signInView(forms: FormContext, { next, passkeyOptions }: SignInData): ConsoleView {
  const fields = new Fields(forms, 'sign_in');
  return {
    title: 'Sign in to the console',
    scripts: ['passkeys'],
    body: html`${form(
      forms,
      { name: 'sign_in', action: CONSOLE_PATHS.signIn },
      html`<input type="hidden" name="next" value="${next}">
${fields.text('email', 'Email', { type: 'email', required: true, autocomplete: 'username' })}
${fields.text('password', 'Password', { type: 'password', required: true, autocomplete: 'current-password' })}
${codeField(fields)}
<button>Sign in</button>`,
    )}
${passkeyOptions && passkeyForm(forms, next, passkeyOptions)}`,
  };
}

function passkeyForm(forms: FormContext, next: string, options: object): Html {
  return html`<div data-passkeys hidden>${form(
    forms,
    { name: 'passkey', action: CONSOLE_PATHS.signIn },
    html`<input type="hidden" name="passkey"><input type="hidden" name="next" value="${next}">
<button type="button" class="plain" data-passkey="answer"
data-options="${JSON.stringify(options)}">Sign in with a passkey</button>`,
  )}</div>`;
}

interface JoinData {
  readonly email: string;
  readonly name: string;
  readonly secret: string;
  readonly uri: string;
  readonly code: string;
  /** The side of the QR code. */
  readonly qrPx: number;
}

export function joinView(forms: FormContext, data: JoinData): ConsoleView {
  const fields = new Fields(forms, 'join');
  const key = data.secret.match(/.{1,4}/g)?.join(' ');
  const picture = `${CONSOLE_PATHS.join}/qr.png?code=${encodeURIComponent(data.code)}`;
  return {
    title: `Welcome, ${data.name}`,
    body: html`<p>You were invited as ${data.email}. Choose a password, and add this account to your
authenticator app. You need both each time you sign in.</p>
<p><img src="${picture}" width="${data.qrPx}" height="${data.qrPx}"
alt="QR code with the secret for your authenticator app"></p>
<p>Can’t scan it? Enter this key: <code class="copy" data-copy>${key}</code></p>
<p class="soft">Settings: time-based, six digits, SHA-1, 30 seconds.</p>
${form(
  forms,
  { name: 'join' },
  html`<input type="hidden" name="invitation" value="${data.code}">
${fields.text('password', 'Password', {
  type: 'password',
  required: true,
  autocomplete: 'new-password',
  hint: 'At least 12 characters.',
})}
${fields.text('password_confirm', 'Repeat the password', {
  type: 'password',
  required: true,
  autocomplete: 'new-password',
})}
${fields.text('code', 'Code shown in the app', {
  required: true,
  autocomplete: 'one-time-code',
  inputmode: 'numeric',
  size: 12,
})}
<button>Create account</button>`,
)}`,
  };
}
