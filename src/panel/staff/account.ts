/** The account of the person who is signed in: their password and passkeys. */
import { detailList, section, table, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { ConsoleView } from './layout.ts';

interface PasskeyItem {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

interface AccountData {
  readonly forms: FormContext;
  readonly person: { readonly name: string; readonly email: string; readonly role: string };
  readonly passkeys: readonly PasskeyItem[];
  /** The options for the browser; null where it has no passkeys. */
  readonly newPasskey: object | null;
}

export function codeField(fields: Fields): Html {
  return fields.text('code', 'One-time code', {
    required: true,
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    size: 12,
  });
}

export function accountView(data: AccountData): ConsoleView {
  const { person, forms } = data;
  return {
    title: 'Your account',
    section: 'account',
    scripts: ['passkeys'],
    body: html`${detailList([
      ['Name', person.name],
      ['Email', person.email],
      ['Role', person.role],
    ])}
${section('Password', passwordForm(forms))}
${section('Passkeys', passkeys(data))}`,
  };
}

function passwordForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'password');
  const field = (name: string, label: string, autocomplete: string, hint?: string) =>
    fields.text(name, label, {
      ...{ type: 'password', required: true, autocomplete },
      ...(hint !== undefined && { hint }),
    });
  return form(
    forms,
    { name: 'password' },
    html`${field('current_password', 'Current password', 'current-password')}
${field('password', 'New password', 'new-password', 'At least 12 characters.')}
${field('password_confirm', 'Repeat the new password', 'new-password')}
${codeField(fields)}
<button>Change password</button>`,
  );
}

function passkeys({ forms, passkeys: rows, newPasskey }: AccountData): Html {
  const shown = rows.map((row) => [
    row.name,
    time(row.created_at),
    row.last_used_at === null ? 'never' : time(row.last_used_at),
    form(forms, { name: 'remove_passkey', key: row.id }, html`<button class="quiet">Remove</button>`),
  ]);
  return html`<p>A passkey signs you in without password and code: your phone, computer, or security key asks
for a PIN or a finger. Keep the authenticator app, for a lost device.</p>
${
  rows.length > 0 &&
  table({
    caption: 'Your passkeys',
    columns: ['Name', 'Added', 'Last used', { name: 'Actions', class: 'actions' }],
    rows: shown,
  })
}
${
  newPasskey === null
    ? html`<p class="hint">Passkeys need a host name with https, or localhost.</p>`
    : addForm(forms, newPasskey)
}`;
}

function addForm(forms: FormContext, options: object): Html {
  const fields = new Fields(forms, 'add_passkey');
  return html`<div data-passkeys hidden>${form(
    forms,
    { name: 'add_passkey' },
    html`<input type="hidden" name="passkey">
${fields.text('name', 'Name of the passkey', { required: true, maxLength: 80, placeholder: 'Work laptop' })}
${codeField(fields)}
<button type="button" data-passkey="answer" data-kind="create"
data-options="${JSON.stringify(options)}">Add passkey</button>`,
  )}</div>
<noscript><p class="hint">Adding a passkey needs scripts.</p></noscript>`;
}
