/** All account pages: signing in, links in mails, and the account itself. */
import { OVERVIEW_PAGE } from './account.ts';
import { AUDIT_PAGES } from './audit-log.ts';
import { DELETE_PAGE } from './delete-account.ts';
import { LINK_PAGES } from './links.ts';
import type { PanelPage } from './page-types.ts';
import { SESSIONS_PAGE } from './sessions.ts';
import { SIGN_IN_PAGES } from './sign-in.ts';
import { TOKENS_PAGE } from './tokens.ts';
import { TOTP_PAGE } from './totp.ts';

export const ACCOUNT_PAGES: readonly PanelPage[] = [
  ...SIGN_IN_PAGES,
  ...LINK_PAGES,
  OVERVIEW_PAGE,
  TOTP_PAGE,
  SESSIONS_PAGE,
  TOKENS_PAGE,
  ...AUDIT_PAGES,
  DELETE_PAGE,
];
