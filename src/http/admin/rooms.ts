/** The pages of the console that are made from descriptions. */
import type { ConsolePage } from './page.ts';
import { roomPages } from './room.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';

export const ROOM_PAGES: readonly ConsolePage[] = [...roomPages(HOSTS_ROOM)];
