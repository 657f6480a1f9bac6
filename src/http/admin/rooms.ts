/** The pages of the console that are made from descriptions. */
import type { ConsolePage } from './page.ts';
import { roomPages } from './room.ts';
import { APPROVAL_RULES_ROOM, APPROVALS_ROOM } from './rooms/approvals.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';
import { MACHINES_ROOM } from './rooms/machines.ts';
import { OPERATIONS_ROOM } from './rooms/operations.ts';
import { SERVERS_ROOM } from './rooms/servers.ts';
import { ADDRESSES_ROOM, CUSTOM_IMAGES_ROOM, IMAGES_ROOM } from './rooms/stock.ts';

export const ROOM_PAGES: readonly ConsolePage[] = [
  ...roomPages(APPROVALS_ROOM),
  ...roomPages(APPROVAL_RULES_ROOM),
  ...roomPages(SERVERS_ROOM),
  ...roomPages(OPERATIONS_ROOM),
  ...roomPages(HOSTS_ROOM),
  ...roomPages(MACHINES_ROOM),
  ...roomPages(IMAGES_ROOM),
  ...roomPages(CUSTOM_IMAGES_ROOM),
  ...roomPages(ADDRESSES_ROOM),
];
