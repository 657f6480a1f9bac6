/** Assigns email addresses to accounts. */
import { fail } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { MailData } from '../../../spec/mails/data.ts';
import { violatedConstraint } from '../../../store/connections/errors.ts';
import {
  type CustomerRow,
  findCustomerByEmail,
  removeOpenPgpKeySince,
  updateEmail,
} from '../../../store/customers/customers.ts';
import {
  invalidateLinks,
  invalidateLinksSince,
  isReservedForOwner,
} from '../../../store/customers/mail-links.ts';
import type { Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import type { Email } from './email.ts';
import { createLink, type LockedLink } from './links.ts';

/** An OpenPGP key set this shortly before an undone change is considered part of the attack. */
const KEY_TRUSTED_MS = LIMITS.openPgpKeyTrustedDays * DAY_MS;

/** Fails with `email_taken` if the address belongs to another account or its owner can still reclaim it. */
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
 * Assigns the address to the account and notifies the old address, which can undo it. The caller holds the
 * customer's lock and runs inside `withEmailTakenCheck`.
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
  // Links mailed to the old address stop working.
  await invalidateLinks(tx, customerId, ['confirm', 'reset']);
  const old = { address: customer.email, key: customer.email_key };
  const { cause, ...undo } = await createLink(tx, { customerId, purpose: 'undo', email: old }, now);
  await notifyPreviousAddress(tx, service, customer, { cause, undo }, now);
}

/**
 * Restores the address that an `undo` link was created for and invalidates all later links. The other
 * address is notified too: the link may be used by someone who has the old mailbox but does not own the
 * account.
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

/**
 * Runs a transaction that assigns an address. If a concurrent one took the address, fails with
 * `email_taken`.
 */
export async function withEmailTakenCheck<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (violatedConstraint(error) === 'customers_email_key_key') fail('email_taken');
    throw error;
  }
}
