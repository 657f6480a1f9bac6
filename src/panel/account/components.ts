/** Parts that the account pages share. */
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import { tabs } from '../parts/components.ts';
import type { Fields } from '../parts/form.ts';
import type { Html } from '../parts/html.ts';

const ACCOUNT_TABS = [
  ['Overview', ACCOUNT_PATHS.overview],
  ['One-time codes', ACCOUNT_PATHS.totp],
  ['Sessions', ACCOUNT_PATHS.sessions],
  ['API tokens', ACCOUNT_PATHS.tokens],
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

/** Converts a session API time, `2026-11-22 02:24:11`, to RFC 3339. */
export function sessionTimeToRfc3339(sessionTime: string): string {
  return `${sessionTime.replace(' ', 'T')}Z`;
}
