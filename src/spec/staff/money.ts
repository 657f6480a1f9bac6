/** The operations on money and prices. */
import { act, MONEY, OWNER, read } from './roles.ts';

export const MONEY_OPERATIONS = {
  'topups.list': read('topups list', 'List top-ups'),
  'topups.get': read('topups show', 'Show a top-up and its payments'),
  'topups.release': act('topups release', 'Credit the withheld payments of a top-up', MONEY),
  'topups.refund': act('topups refund', 'Approve a refund of the withheld payments of a top-up', MONEY),
  'topups.mark_refunded': act('topups refund', 'Record the transaction of a refund', MONEY),
  'deposits.list': read('deposits list', 'List the payments of all customers'),
  'coins.list': read('chain list', 'List coins with their rates, chains, and addresses'),
  'coins.get': read('chain show', 'Show a coin'),
  'coins.reread': act('chain reread', 'Read the blocks of a coin again', MONEY),
  'coins.skip_addresses': act('chain skip', 'Never give out the next addresses of a coin', MONEY),
  'coins.import_addresses': act('chain import', 'Import addresses of a coin', MONEY),
  'coins.recover': act('recover', 'Raise the numbers of a restored database', OWNER),
  'nodes.check': read('chain doctor', 'Check every node'),
  'paid_addresses.list': read('chain paid', 'List the addresses of a coin that received payments'),
} as const;
