/** The address of an account: whose it may become, and how it does. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { MailData } from '../../spec/mails.ts';
import {
  type CustomerRow,
  findCustomerByEmail,
  removeOpenPgpKeySince,
  updateEmail,
} from '../../store/customers.ts';
import { violatedConstraint } from '../../store/db.ts';
import { invalidateLinks, invalidateLinksSince, isReservedForOwner } from '../../store/mail-links.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import type { Email } from './email.ts';
import { createLink, type LockedLink } from './mail-links.ts';

/** A key that came shortly before a change that is taken back is taken for a part of it. */
const KEY_TRUSTED_MS = LIMITS.openPgpKeyTrustedDays * DAY_MS;

/** Refuses with `email_taken` what is another account's, or may still be taken back by its owner. */
export async function requireEmailAvailable(
  tx: Sql,
  emailKey: string,
  customerId: string | null,
  now: Date,
): Promise<void> {
  const owner = await findCustomerByEmail(tx, emailKey);
  if (owner && owner.id !== customerId) fail('email_taken');
  if (await isReservedForOwner(tx, emailKey, customerId, now)) fail('email_taken');
}

/**
 * Makes it the account's address and tells the old one, which may take it back. The caller holds the customer's lock, and calls
 * `refuseTaken`.
 */
export async function applyEmailChange(
  tx: Sql,
  service: Service,
  customer: CustomerRow,
  email: Email & { readonly confirmedAt: Date | null },
  now: Date,
): Promise<void> {
  const { id: customerId } = customer;
  await requireEmailAvailable(tx, email.key, customerId, now);
  await updateEmail(tx, customerId, email);
  // What was mailed to the old address lets nobody in any more.
  await invalidateLinks(tx, customerId, ['confirm', 'reset']);
  const old = { address: customer.email, key: customer.email_key };
  const { cause, ...undo } = await createLink(tx, { customerId, purpose: 'undo', email: old }, now);
  await notifyPreviousAddress(tx, service, customer, { cause, undo }, now);
}

/**
 * Gives the account the address that an `undo` link was made for, and makes worthless what has come since. The other
 * address is told: who uses the link may be whoever has the old mailbox, and not its owner.
 */
export async function revertEmailChange(
  tx: Sql,
  service: Service,
  { link, customer }: LockedLink,
  now: Date,
): Promise<void> {
  const { id } = customer;
  await requireEmailAvailable(tx, link.email_key, id, now);
  await invalidateLinksSince(tx, id, link.created_at, link.digest);
  await updateEmail(tx, id, { address: link.email, key: link.email_key, confirmedAt: now });
  await removeOpenPgpKeySince(tx, id, new Date(link.created_at.getTime() - KEY_TRUSTED_MS));
  if (customer.email_key === link.email_key) return;
  await notifyPreviousAddress(
    tx,
    service,
    customer,
    { cause: `undone:${link.digest.toString('hex')}`, undo: null },
    now,
  );
}

async function notifyPreviousAddress(
  tx: Sql,
  service: Service,
  previous: CustomerRow,
  change: { readonly cause: string; readonly undo: MailData['address_changed']['undo'] },
  now: Date,
): Promise<void> {
  const { cause, undo } = change;
  const data = { changedAt: now, undo };
  const mail = { customerId: previous.id, kind: 'address_changed', cause, data, to: previous.email } as const;
  await enqueueMail(tx, mail, now, service.keys);
}

/** Runs a transaction that gives an account an address; another one that took it at the same moment is `email_taken`. */
export async function withEmailTakenCheck<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (violatedConstraint(error) === 'customers_email_key_key') fail('email_taken');
    throw error;
  }
}
