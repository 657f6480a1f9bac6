/**
 * Every page and file of the console: those that are written by hand, and those that are made from
 * descriptions (room.ts).
 */
import type { ConsoleFile, ConsolePage } from './page.ts';
import { ACCESS_PAGES } from './pages/access.ts';
import { ACCOUNT_PAGE } from './pages/account.ts';
import { CUSTOMER_PAGES } from './pages/customers.ts';
import { OVERVIEW_FILES, OVERVIEW_PAGE } from './pages/overview.ts';
import { RECORD_PAGES } from './pages/records.ts';
import { SERVER_PAGES } from './pages/servers.ts';
import { STAFF_PAGES } from './pages/staff.ts';
import { TOPUP_PAGES } from './pages/topups.ts';
import { roomPages } from './room.ts';
import { APPROVAL_RULES_ROOM, APPROVALS_ROOM } from './rooms/approvals.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';

/** In any order: their paths differ. */
export const CONSOLE_PAGES: readonly ConsolePage[] = [
  ...ACCESS_PAGES,
  OVERVIEW_PAGE,
  ...RECORD_PAGES,
  ...CUSTOMER_PAGES,
  ...SERVER_PAGES,
  ...TOPUP_PAGES,
  ...roomPages(HOSTS_ROOM),
  ...roomPages(APPROVALS_ROOM),
  ...roomPages(APPROVAL_RULES_ROOM),
  ...STAFF_PAGES,
  ACCOUNT_PAGE,
];

/** Downloads and pictures. */
export const CONSOLE_FILES: readonly ConsoleFile[] = OVERVIEW_FILES;
