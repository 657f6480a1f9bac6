/** The operations on customers. */
import { act, CUSTOMERS, MONEY, read } from './roles.ts';

export const CUSTOMER_OPERATIONS = {
  'customers.list': read('customers list', 'List and search customers'),
  'customers.get': read('customers show', 'Show a customer'),
  'customers.ledger': read('customers ledger', 'List the ledger of a customer'),
  'customers.freeze': act('customers freeze', 'Make an account read-only', CUSTOMERS),
  'customers.unfreeze': act('customers unfreeze', 'Lift the freeze of an account', CUSTOMERS),
  'customers.credit': act('credit', 'Add to the balance of a customer', MONEY),
  'customers.debit': act('debit', 'Take from the balance of a customer', MONEY),
  'customers.disable_totp': act('customers totp-off', 'Turn off one-time codes of a customer', CUSTOMERS),
} as const;
