/** Parts that the account pages share. */
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import { tabs } from '../parts/components.ts';
import type { Fields } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';

const ACCOUNT_TABS = [
  ['Overview', ACCOUNT_PATHS.overview],
  ['One-time codes', ACCOUNT_PATHS.totp],
  ['Passkeys', ACCOUNT_PATHS.passkeys],
  ['Sessions', ACCOUNT_PATHS.sessions],
  ['API tokens', ACCOUNT_PATHS.tokens],
  ['Limits', ACCOUNT_PATHS.limits],
  ['Audit log', ACCOUNT_PATHS.audit],
  ['Delete account', ACCOUNT_PATHS.delete],
] as const;

export function accountTabs(open: (typeof ACCOUNT_TABS)[number][1]): Html {
  return tabs('Account pages', ACCOUNT_TABS, open);
}

/** Returns the field that confirms an action with the current password. */
export function passwordField(fields: Fields): Html {
  return fields.text('current_password', 'Current password', {
    type: 'password',
    required: true,
    autocomplete: 'current-password',
  });
}

/** Returns the password field, with a passkey in its place if the customer has one and scripts are on. */
export function ownerFields(fields: Fields, hasPasskeys: boolean): Html {
  return html`${passwordField(fields)}
${hasPasskeys && passkeyButton('confirm', 'Use a passkey instead of the password')}`;
}

/** Returns the button that asks for a passkey and then submits its form with it. Only the script shows it. */
export function passkeyButton(kind: 'confirm' | 'factor', label: string): Html {
  return html`<div data-passkeys hidden><input type="hidden" name="passkey" value="">
<button type="button" class="plain" data-passkey="${kind}">${label}</button></div>`;
}

/** Converts a session API time, `2026-11-22 02:24:11`, to RFC 3339. */
export function sessionTimeToRfc3339(sessionTime: string): string {
  return `${sessionTime.replace(' ', 'T')}Z`;
}
