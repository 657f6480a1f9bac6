/** The operations on money and prices. */
import { act, MONEY, read } from './roles.ts';

export const MONEY_OPERATIONS = {
  'topups.list': read('topups list', 'List top-ups'),
  'topups.get': read('topups show', 'Show a top-up and its payments'),
  'topups.release': act('topups release', 'Credit the withheld payments of a top-up', MONEY),
} as const;
