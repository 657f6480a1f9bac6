/** The pages of the console that are made from descriptions. */
import type { ConsoleDownload, ConsolePage } from './page.ts';
import { type Room, roomDownloads, roomPages } from './room.ts';
import { HOSTS_ROOM } from './rooms/hosts.ts';
import { COINS_ROOM, NODES_ROOM, PAID_ADDRESSES_ROOM } from './rooms/money/coins.ts';
import { DEPOSITS_ROOM } from './rooms/money/deposits.ts';
import { TOPUPS_ROOM } from './rooms/money/topups.ts';

/** Each room has items of its own type. */
const ROOMS = [
  HOSTS_ROOM,
  TOPUPS_ROOM,
  DEPOSITS_ROOM,
  COINS_ROOM,
  NODES_ROOM,
  PAID_ADDRESSES_ROOM,
] as unknown as readonly Room<unknown>[];

export const ROOM_PAGES: readonly ConsolePage[] = ROOMS.flatMap((room) => roomPages(room));

export const ROOM_DOWNLOADS: readonly ConsoleDownload[] = ROOMS.flatMap((room) => roomDownloads(room));
