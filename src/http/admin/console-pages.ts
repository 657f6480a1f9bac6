/**
 * Every page and file of the console: those that are written by hand, and those that are made from
 * descriptions (room.ts).
 */
import type { ConsoleFile, ConsolePage } from './page.ts';
import { ABUSE_FILES, ABUSE_PAGES } from './pages/abuse.ts';
import { ACCESS_PAGES } from './pages/access.ts';
import { ACCOUNT_PAGE } from './pages/account.ts';
import { CUSTOMER_PAGES } from './pages/customers.ts';
import { LEGAL_FILES, LEGAL_PAGES } from './pages/legal.ts';
import { MAILING_PAGES } from './pages/mailings.ts';
import { OVERVIEW_FILES, OVERVIEW_PAGE } from './pages/overview.ts';
import { RECORD_PAGES } from './pages/records.ts';
import { STAFF_PAGES } from './pages/staff.ts';
import { TICKET_FILES, TICKET_PAGES } from './pages/tickets.ts';
import { type Room, roomFiles, roomPages } from './room.ts';
import { ABUSE_OFFENDERS_ROOM, ABUSE_ROOM, ABUSE_TEMPLATES_ROOM } from './rooms/abuse.ts';
import { APPROVAL_RULES_ROOM, APPROVALS_ROOM } from './rooms/approvals.ts';
import { ANSWERS_ROOM, TICKETS_ROOM } from './rooms/desk.ts';
import { FLOODS_ROOM } from './rooms/floods.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';
import { CUSTOM_IMAGES_ROOM, IMAGES_ROOM } from './rooms/images.ts';
import { INCIDENTS_ROOM } from './rooms/incidents.ts';
import { LEGAL_ORDERS_ROOM } from './rooms/legal.ts';
import { MACHINES_ROOM } from './rooms/machines.ts';
import { COINS_ROOM, NODES_ROOM, PAID_ADDRESSES_ROOM } from './rooms/money/coins.ts';
import { COUPONS_ROOM } from './rooms/money/coupons.ts';
import { DEPOSITS_ROOM } from './rooms/money/deposits.ts';
import { PLANS_ROOM } from './rooms/money/plans.ts';
import { REGIONS_ROOM } from './rooms/money/regions.ts';
import { TOPUPS_ROOM } from './rooms/money/topups.ts';
import { OPERATIONS_ROOM } from './rooms/operations.ts';
import { MAINTENANCE_ROOM, POLICIES_ROOM, SWITCHES_ROOM } from './rooms/rules.ts';
import { SERVERS_ROOM } from './rooms/servers.ts';
import { ADDRESSES_ROOM } from './rooms/stock.ts';
import { ANNOUNCEMENTS_ROOM } from './rooms/talking/announcements.ts';
import { MAILINGS_ROOM } from './rooms/talking/mailings.ts';
import { WORK_ROOM } from './rooms/work.ts';

/** Each room has items of its own type. */
const ROOMS = [
  INCIDENTS_ROOM,
  MAINTENANCE_ROOM,
  SWITCHES_ROOM,
  POLICIES_ROOM,
  LEGAL_ORDERS_ROOM,
  SERVERS_ROOM,
  OPERATIONS_ROOM,
  WORK_ROOM,
  HOSTS_ROOM,
  MACHINES_ROOM,
  IMAGES_ROOM,
  CUSTOM_IMAGES_ROOM,
  ADDRESSES_ROOM,
  PLANS_ROOM,
  REGIONS_ROOM,
  TOPUPS_ROOM,
  DEPOSITS_ROOM,
  COUPONS_ROOM,
  COINS_ROOM,
  NODES_ROOM,
  PAID_ADDRESSES_ROOM,
  TICKETS_ROOM,
  ANSWERS_ROOM,
  ANNOUNCEMENTS_ROOM,
  MAILINGS_ROOM,
  ABUSE_ROOM,
  ABUSE_OFFENDERS_ROOM,
  ABUSE_TEMPLATES_ROOM,
  FLOODS_ROOM,
  APPROVALS_ROOM,
  APPROVAL_RULES_ROOM,
] as unknown as readonly Room<unknown>[];

/** In any order: their paths differ. */
export const CONSOLE_PAGES: readonly ConsolePage[] = [
  ...ACCESS_PAGES,
  OVERVIEW_PAGE,
  ...RECORD_PAGES,
  ...CUSTOMER_PAGES,
  ...TICKET_PAGES,
  ...MAILING_PAGES,
  ...LEGAL_PAGES,
  ...ABUSE_PAGES,
  ...ROOMS.flatMap((room) => roomPages(room)),
  ...STAFF_PAGES,
  ACCOUNT_PAGE,
];

/** Downloads and pictures. */
export const CONSOLE_FILES: readonly ConsoleFile[] = [
  ...OVERVIEW_FILES,
  ...TICKET_FILES,
  ...LEGAL_FILES,
  ...ABUSE_FILES,
  ...ROOMS.flatMap((room) => roomFiles(room)),
];
