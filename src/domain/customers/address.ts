/** The address of an account: whose it may become, and how it does. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CustomerRow, findCustomerByEmail, updateEmail } from '../../store/customers.ts';
import { brokenConstraint } from '../../store/db.ts';
import { dropLinks, isKeptForOwner } from '../../store/mail-links.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import type { Email } from './email.ts';
import { makeLink } from './links.ts';

/** Refuses with `email_taken` what is another account's, or may still be taken back by its owner. */
export async function requireFree(
  tx: Sql,
  emailKey: string,
  customerId: string | null,
  now: Date,
): Promise<void> {
  const owner = await findCustomerByEmail(tx, emailKey);
  if (owner && owner.id !== customerId) fail('email_taken');
  if (await isKeptForOwner(tx, emailKey, customerId, now)) fail('email_taken');
}

/** Makes it the account's address and tells the old one. The caller holds the customer's lock, and calls `refuseTaken`. */
export async function moveTo(
  tx: Sql,
  service: Service,
  customer: CustomerRow,
  email: Email & { readonly confirmedAt: Date | null },
  now: Date,
): Promise<void> {
  const { id: customerId } = customer;
  await requireFree(tx, email.key, customerId, now);
  await updateEmail(tx, customerId, email);
  // What was mailed to the old address lets nobody in any more.
  await dropLinks(tx, customerId, ['confirm', 'reset']);
  const old = { address: customer.email, key: customer.email_key };
  const { cause, ...undo } = await makeLink(tx, { customerId, purpose: 'undo', email: old }, now);
  const data = { changedAt: now, undo };
  const mail = { customerId, kind: 'address_changed', cause, data, to: old.address } as const;
  await enqueueMail(tx, mail, now, service.keys);
}

/** Runs a transaction that gives an account an address; another one that took it at the same moment is `email_taken`. */
export async function refuseTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (brokenConstraint(error) === 'customers_email_key_key') fail('email_taken');
    throw error;
  }
}
