/** Valid input for every form of every page, in an order in which each form finds the state that it needs. */
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
