/** A valid input for every form of every page, to be sent more than once. In an order in which each finds what it needs. */
import type { Click } from './click.ts';
import { ACCOUNT_CLICKS, SIGN_IN_CLICKS } from './clicks-account.ts';
import { RESOURCE_CLICKS } from './clicks-resources.ts';
import { SERVER_CLICKS } from './clicks-servers.ts';

export const CLICKS: readonly Click[] = [
  ...RESOURCE_CLICKS,
  ...SERVER_CLICKS,
  ...ACCOUNT_CLICKS,
  ...SIGN_IN_CLICKS,
];
