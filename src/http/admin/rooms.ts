/** The pages of the console that are made from descriptions. */
import type { ConsolePage } from './page.ts';
import { roomPages } from './room.ts';
import { APPROVAL_RULES_ROOM, APPROVALS_ROOM } from './rooms/approvals.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';

export const ROOM_PAGES: readonly ConsolePage[] = [
  ...roomPages(HOSTS_ROOM),
  ...roomPages(APPROVALS_ROOM),
  ...roomPages(APPROVAL_RULES_ROOM),
];
