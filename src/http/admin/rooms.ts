/** The pages of the console that are made from descriptions. */
import type { ConsolePage } from './page.ts';
import { roomPages } from './room.ts';
import { ANSWERS_ROOM, TICKETS_ROOM } from './rooms/desk.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';

export const ROOM_PAGES: readonly ConsolePage[] = [
  ...roomPages(HOSTS_ROOM),
  ...roomPages(TICKETS_ROOM),
  ...roomPages(ANSWERS_ROOM),
];
