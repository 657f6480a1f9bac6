/** Confirms that mail to an address reaches the customer. No feature depends on it. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { lockCustomer, updateEmail } from '../../store/customers/customers.ts';
import { markLinkUsed } from '../../store/customers/mail-links.ts';
import type { Actor, CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { applyEmailChange, withEmailTakenCheck } from './email-address.ts';
import { enqueueConfirmation } from './mail-confirmation.ts';
import {
  failBadLink,
  type LockedLink,
  linkActor,
  lockLink,
  requireLinkMailQuota,
  requireUsableLink,
} from './mail-links.ts';

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
