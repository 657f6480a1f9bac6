/** What the pages of the account have in common. */
import { ACCOUNT_PATHS } from '../spec/paths.ts';
import { tabs } from './components.ts';
import type { Fields } from './form.ts';
import type { Html } from './html.ts';

const ACCOUNT_TABS = [
  ['Overview', ACCOUNT_PATHS.overview],
  ['One-time codes', ACCOUNT_PATHS.totp],
  ['Sessions', ACCOUNT_PATHS.sessions],
  ['API tokens', ACCOUNT_PATHS.tokens],
  ['Audit log', ACCOUNT_PATHS.audit],
  ['Delete', ACCOUNT_PATHS.delete],
] as const;

export function accountTabs(open: (typeof ACCOUNT_TABS)[number][1]): Html {
  return tabs('Parts of the account', ACCOUNT_TABS, open);
}

/** The present password, asked for again. */
export function passwordField(fields: Fields): Html {
  return fields.text('current_password', 'Your password', {
    type: 'password',
    required: true,
    autocomplete: 'current-password',
  });
}

/** A time of the session surface, `2026-11-22 02:24:11`, as RFC 3339. */
export function sessionTimeToRfc3339(sessionTime: string): string {
  return `${sessionTime.replace(' ', 'T')}Z`;
}
