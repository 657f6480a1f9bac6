/** The operations on customers. */
import { act, CUSTOMERS, MONEY, manage, OWNER, read, type StaffRole } from './roles.ts';

export const CUSTOMER_RECORD_LIMITS = {
  notesMax: 200,
  noteMaxChars: 2_000,
  tagsMax: 20,
} as const;

/** A tag that staff give a customer: `vip`. */
export function isCustomerTag(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,39}$/.test(text);
}

/** Who may take the data of a customer out of the service. */
const DATA: readonly StaffRole[] = ['owner', 'support'];

export const CUSTOMER_OPERATIONS = {
  'customers.list': read('customers list', 'List and search customers'),
  'customers.get': read('customers show', 'Show a customer'),
  'customers.ledger': read('customers ledger', 'List the ledger of a customer'),
  'customers.notes': read('customers notes', 'List the notes of staff on a customer'),
  'customers.add_note': manage('customers add-note', 'Add a note on a customer', CUSTOMERS),
  'customers.delete_note': manage('customers delete-note', 'Delete a note on a customer', CUSTOMERS),
  'customers.set_tags': manage('customers set-tags', 'Replace the tags of a customer', CUSTOMERS),
  'customers.limits': read('customers limits', 'List the limits of a customer'),
  'customers.set_limits': act('customers set-limits', 'Set limits of a customer’s own', CUSTOMERS),
  'customers.freeze': act('customers freeze', 'Make an account read-only', CUSTOMERS),
  'customers.unfreeze': act('customers unfreeze', 'Lift the freeze of an account', CUSTOMERS),
  'customers.credit': act('credit', 'Add to the balance of a customer', MONEY),
  'customers.debit': act('debit', 'Take from the balance of a customer', MONEY),
  'customers.view': act('customers view', 'View an account as the customer sees it', DATA),
  'customers.export': act('customers export', 'Export all data of a customer', DATA),
  'customers.delete': act('customers delete', 'Delete an account and its data', OWNER),
  'customers.disable_totp': act('customers totp-off', 'Turn off one-time codes of a customer', CUSTOMERS),
} as const;
