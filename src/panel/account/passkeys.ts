/** The account's passkeys. Adding one needs scripts; everything else works without. */
import { LIMITS } from '../../spec/limits.ts';
import { ACCOUNT_PATHS, PANEL_QUERY } from '../../spec/paths.ts';
import { emptyState, section, table, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { accountTabs, ownerFields, passwordField, sessionTimeToRfc3339 } from './components.ts';

interface PasskeyRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

interface PasskeysData {
  readonly passkeys: readonly PasskeyRow[];
  readonly forms: FormContext;
  /** Whether one-time codes are on: adding a passkey then needs one. */
  readonly totp: boolean;
  /** Whether browsers offer passkeys at this site's address. */
  readonly isOffered: boolean;
}

const REQUIREMENT = 'Passkeys need a website with a host name and https.';

export function passkeysView(data: PasskeysData): View {
  const { passkeys, isOffered } = data;
  return {
    title: 'Passkeys',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    scripts: ['passkeys'],
    body: html`${accountTabs(ACCOUNT_PATHS.passkeys)}
<p>A passkey signs you in with your phone, your computer, or a security key, without a password and without
a code. Your password and your recovery code still work, and you need them if you lose the device.</p>
${passkeys.length > 0 ? passkeysTable(data) : noPasskeys(isOffered)}
${
  isOffered
    ? section('Add passkey', addForm(data))
    : passkeys.length > 0 && html`<p class="hint">${REQUIREMENT}</p>`
}`,
  };
}

function passkeysTable({ passkeys, forms, isOffered }: PasskeysData): Html {
  return html`${table({
    caption: 'Passkeys',
    columns: ['Name', 'Last used', 'Added'],
    rows: passkeys.map(({ name, last_used_at, created_at }) => [
      name,
      last_used_at === null ? 'Never' : time(sessionTimeToRfc3339(last_used_at)),
      time(sessionTimeToRfc3339(created_at)),
    ]),
  })}
${passkeys.map((passkey) => changeForms(passkey, forms, isOffered))}`;
}

function changeForms({ id, name }: PasskeyRow, forms: FormContext, isOffered: boolean): Html {
  const renaming = new Fields(forms, 'rename', id);
  const removing = new Fields(forms, 'remove', id);
  return html`<details><summary>Change ${name}</summary>
${form(
  forms,
  { name: 'rename', key: id },
  html`${renaming.text('name', 'Name', { value: name, required: true, maxLength: LIMITS.nameMaxChars })}
<button class="plain">Rename</button>`,
)}
${form(
  forms,
  { name: 'remove', key: id },
  html`${ownerFields(removing, isOffered)}
<button class="danger">Remove ${name}</button>`,
)}</details>\n`;
}

function noPasskeys(isOffered: boolean): Html {
  if (isOffered) return emptyState('No passkeys yet.', 'Add one below.');
  return emptyState('Passkeys are unavailable.', REQUIREMENT);
}

/** Shown and sent by the script, which asks the browser between the password and the name. */
function addForm({ forms, totp }: PasskeysData): Html {
  const fields = new Fields(forms, 'add');
  const next = `${ACCOUNT_PATHS.passkeys}?${PANEL_QUERY.notice}=passkey_added`;
  return html`<noscript><p>Adding a passkey needs scripts. Everything else works without.</p></noscript>
<div data-passkeys hidden>${form(
    forms,
    { name: 'add' },
    html`${fields.text('name', 'Name', {
      required: true,
      maxLength: LIMITS.nameMaxChars,
      autocomplete: 'off',
      hint: 'Where the passkey is stored, such as phone or security key.',
    })}
${passwordField(fields)}
${
  totp &&
  fields.text('code', 'One-time code', {
    required: true,
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    size: 12,
  })
}
<button data-passkey="add" data-next="${next}">Add passkey</button>`,
  )}</div>`;
}
