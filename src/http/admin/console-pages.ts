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
import { STAFF_PAGES } from './pages/staff.ts';
import { TOPUP_PAGES } from './pages/topups.ts';
import { roomPages } from './room.ts';
import { APPROVAL_RULES_ROOM, APPROVALS_ROOM } from './rooms/approvals.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';
import { MACHINES_ROOM } from './rooms/machines.ts';
import { OPERATIONS_ROOM } from './rooms/operations.ts';
import { SERVERS_ROOM } from './rooms/servers.ts';
import { ADDRESSES_ROOM, CUSTOM_IMAGES_ROOM, IMAGES_ROOM } from './rooms/stock.ts';

/** In any order: their paths differ. */
export const CONSOLE_PAGES: readonly ConsolePage[] = [
  ...ACCESS_PAGES,
  OVERVIEW_PAGE,
  ...RECORD_PAGES,
  ...CUSTOMER_PAGES,
  ...TOPUP_PAGES,
  ...roomPages(SERVERS_ROOM),
  ...roomPages(OPERATIONS_ROOM),
  ...roomPages(HOSTS_ROOM),
  ...roomPages(MACHINES_ROOM),
  ...roomPages(IMAGES_ROOM),
  ...roomPages(CUSTOM_IMAGES_ROOM),
  ...roomPages(ADDRESSES_ROOM),
  ...roomPages(APPROVALS_ROOM),
  ...roomPages(APPROVAL_RULES_ROOM),
  ...STAFF_PAGES,
  ACCOUNT_PAGE,
];

/** Downloads and pictures. */
export const CONSOLE_FILES: readonly ConsoleFile[] = OVERVIEW_FILES;
