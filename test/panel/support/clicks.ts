/** A valid input for every form of every page, to be sent more than once. In an order in which each finds what it needs. */
import type { Click } from './click.ts';
import { ACCOUNT, WAYS_IN } from './clicks-account.ts';
import { SERVERS } from './clicks-servers.ts';
import { THINGS } from './clicks-things.ts';

export const CLICKS: readonly Click[] = [...THINGS, ...SERVERS, ...ACCOUNT, ...WAYS_IN];
