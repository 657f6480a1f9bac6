/**
 * Changes the account's email address. The new address takes effect when the link in its mailbox is used,
 * so that a typo locks no one out. Without a mailer, it takes effect at once. The old address is notified
 * and can undo the change for a week by setting a new password, so a stolen password is not enough to keep
 * an account. Until then, the old address is reserved.
 */
import { fail } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { type CustomerRow, lockCustomer, updateEmail } from '../../../store/customers/customers.ts';
import { invalidateLinks, markLinkUsed } from '../../../store/customers/mail-links.ts';
import type { Actor, CustomerActor, Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { recordAudit } from '../../record.ts';
import { checkOwner, type OwnerProof } from '../owner.ts';
import { lockChecked } from '../password.ts';
import { applyEmailChange, requireEmailAvailable, withEmailTakenCheck } from './address.ts';
import { type Email, requireEmail } from './email.ts';
import {
  createLink,
  failBadLink,
  type LockedLink,
  linkActor,
  lockLink,
  requireLinkMailQuota,
  requireUsableLink,
} from './links.ts';

export interface EmailChange {
  /** The current address. */
  readonly email: string;
  /** The address that takes effect once its link is used; null: none. */
  readonly pendingEmail: string | null;
}

/** Fails with `bad_email`, `bad_credentials`, `email_taken`, or `rate_limited`. */
export async function changeEmail(
  service: Service,
  actor: CustomerActor,
  form: OwnerProof & { readonly email: string },
): Promise<EmailChange> {
  const email = requireEmail(form.email);
  const checked = await checkOwner(service, actor, form);
  const change = await withEmailTakenCheck(() =>
    service.db.transaction(async (tx) => {
      const now = service.clock.now();
      const customer = await lockChecked(tx, actor, checked);
      const after = await requestChange(tx, service, customer, email, now);
      await recordAudit(tx, { actor, action: 'customer.change_email', resource: null }, now);
      return after;
    }),
  );
  service.wake();
  return change;
}

async function requestChange(
  tx: Sql,
  service: Service,
  customer: CustomerRow,
  email: Email,
  now: Date,
): Promise<EmailChange> {
  await invalidateLinks(tx, customer.id, ['change']);
  if (email.key === customer.email_key) {
    // Different spelling of the same address, or a canceled change.
    await updateEmail(tx, customer.id, { ...email, confirmedAt: customer.email_confirmed_at });
    return { email: email.address, pendingEmail: null };
  }
  await requireEmailAvailable(tx, email.key, customer.id, now);
  if (service.mailer === null) {
    await applyEmailChange(tx, service, customer, { ...email, confirmedAt: null }, now);
    return { email: email.address, pendingEmail: null };
  }
  await requireLinkMailQuota(tx, customer.id, email, now);
  await enqueueConfirmation(tx, service, { customerId: customer.id, purpose: 'change', email }, now);
  return { email: customer.email, pendingEmail: email.address };
}

/**
 * Uses a link of `enqueueConfirmation` and returns the confirmed address. A second use succeeds without
 * effect. Fails with `bad_link`, `account_frozen`, or, if another account has the new address by now,
 * `email_taken`.
 */
export async function confirmAddress(service: Service, actor: Actor, token: string): Promise<string> {
  const address = await withEmailTakenCheck(() =>
    service.db.transaction(async (tx) => {
      const locked = await lockLink(tx, 'confirm', token);
      if (isAlreadyConfirmed(locked)) return locked.customer.email;
      const now = service.clock.now();
      requireUsableLink(locked.link, now);
      if (locked.customer.frozen_at) fail('account_frozen');
      await applyLink(tx, service, locked, now);
      await markLinkUsed(tx, locked.link.digest, now);
      const { id: customerId } = locked.customer;
      const by = linkActor(actor, customerId);
      await recordAudit(
        tx,
        { actor: by, action: 'customer.confirm_address', resource: null, customerId },
        now,
      );
      return locked.link.email;
    }),
  );
  service.wake();
  return address;
}

/** Whether this address is already the account's confirmed one. */
function isAlreadyConfirmed({ link, customer }: LockedLink): boolean {
  return customer.email_key === link.email_key && customer.email_confirmed_at !== null;
}

async function applyLink(
  tx: Sql,
  service: Service,
  { link, customer }: LockedLink,
  now: Date,
): Promise<void> {
  const email = { address: link.email, key: link.email_key };
  if (link.purpose === 'change')
    return await applyEmailChange(tx, service, customer, { ...email, confirmedAt: now }, now);
  // The link was mailed to an address that the account no longer has.
  if (customer.email_key !== link.email_key) failBadLink('unknown');
  await updateEmail(tx, customer.id, { address: customer.email, key: customer.email_key, confirmedAt: now });
}

/**
 * Mails another link to the account's address. Returns false if it is already confirmed. Fails with
 * `rate_limited`.
 */
export async function resendConfirmation(service: Service, actor: CustomerActor): Promise<boolean> {
  const mailed = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const customer = (await lockCustomer(tx, actor.customerId)) ?? fail('auth_required');
    if (customer.email_confirmed_at !== null) return false;
    const email = { address: customer.email, key: customer.email_key };
    await requireLinkMailQuota(tx, customer.id, email, now);
    await enqueueConfirmation(tx, service, { customerId: customer.id, purpose: 'confirm', email }, now);
    await recordAudit(tx, { actor, action: 'customer.resend_confirmation', resource: null }, now);
    return true;
  });
  service.wake();
  return mailed;
}

/**
 * Queues a mail with a link. Opening a `confirm` link confirms the account's address; opening a `change` link
 * replaces it with this one.
 */
export async function enqueueConfirmation(
  tx: Sql,
  service: Service,
  to: { readonly customerId: string; readonly purpose: 'confirm' | 'change'; readonly email: Email },
  now: Date,
): Promise<void> {
  const { path, expiresAt, cause } = await createLink(tx, to, now);
  const { customerId, email } = to;
  const mail = { customerId, kind: 'confirm_address', cause, data: { path, expiresAt } } as const;
  await enqueueMail(tx, { ...mail, to: email.address }, now, service.keys);
}
