/** Confirming an address: that mail to it reaches the customer. It gates nothing. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { lockCustomer, updateEmail } from '../../store/customers.ts';
import { markLinkUsed } from '../../store/mail-links.ts';
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

/** Mails another link to the account's address; false, and no mail, when it is confirmed. Refuses: `rate_limited`. */
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
 * Uses a link of `mailConfirmation`; returns the address that is confirmed now. A second use does nothing and says the same.
 * Refuses: `bad_link account_frozen`, and `email_taken` where somebody else has the new address by now.
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

/** Whether the account has this address already, confirmed. */
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
  // It was mailed to an address that the account has left.
  if (customer.email_key !== link.email_key) failBadLink('unknown');
  await updateEmail(tx, customer.id, { address: customer.email, key: customer.email_key, confirmedAt: now });
}
