/** The operations on money and prices. */
import { act, MONEY, read } from './roles.ts';

export const MONEY_OPERATIONS = {
  'topups.list': read('topups list', 'List top-ups'),
  'topups.get': read('topups show', 'Show a top-up and its payments'),
  'topups.release': act('topups release', 'Credit the withheld payments of a top-up', MONEY),
  'topups.refund': act('topups refund', 'Approve a refund of the withheld payments of a top-up', MONEY),
  'topups.mark_refunded': act('topups refund', 'Record the transaction of a refund', MONEY),
  'deposits.list': read('deposits list', 'List the payments of all customers'),
} as const;
