/** The pages of the console that are made from descriptions. */
import type { ConsolePage } from './page.ts';
import { roomPages } from './room.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';
import { DEPOSITS_ROOM } from './rooms/money/deposits.ts';
import { TOPUPS_ROOM } from './rooms/money/topups.ts';

export const ROOM_PAGES: readonly ConsolePage[] = [
  ...roomPages(HOSTS_ROOM),
  ...roomPages(TOPUPS_ROOM),
  ...roomPages(DEPOSITS_ROOM),
];
