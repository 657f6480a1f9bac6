/** Confirming an address: that mail to it reaches the customer. It gates nothing. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { lockCustomer, updateEmail } from '../../store/customers.ts';
import { markLinkUsed } from '../../store/mail-links.ts';
import type { Actor, CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { moveTo, refuseTaken } from './address.ts';
import { actorOfLink, badLink, type HeldLink, holdLink, requireFresh, requireMailRoom } from './links.ts';
import { mailConfirmation } from './mail-confirmation.ts';

/** Mails another link to the account's address; false, and no mail, when it is confirmed. Refuses: `rate_limited`. */
export async function resendConfirmation(service: Service, actor: CustomerActor): Promise<boolean> {
  const mailed = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const customer = (await lockCustomer(tx, actor.customerId)) ?? fail('auth_required');
    if (customer.email_confirmed_at !== null) return false;
    const email = { address: customer.email, key: customer.email_key };
    await requireMailRoom(tx, customer.id, email, now);
    await mailConfirmation(tx, service, { customerId: customer.id, purpose: 'confirm', email }, now);
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
  const address = await refuseTaken(() =>
    service.db.transaction(async (tx) => {
      const held = await holdLink(tx, 'confirm', token);
      if (isDone(held)) return held.customer.email;
      const now = service.clock.now();
      requireFresh(held.link, now);
      if (held.customer.frozen_at) fail('account_frozen');
      await carryOut(tx, service, held, now);
      await markLinkUsed(tx, held.link.digest, now);
      const { id: customerId } = held.customer;
      const by = actorOfLink(actor, customerId);
      await recordAudit(
        tx,
        { actor: by, action: 'customer.confirm_address', resource: null, customerId },
        now,
      );
      return held.link.email;
    }),
  );
  service.wake();
  return address;
}

/** Whether the account has this address already, confirmed. */
function isDone({ link, customer }: HeldLink): boolean {
  return customer.email_key === link.email_key && customer.email_confirmed_at !== null;
}

async function carryOut(tx: Sql, service: Service, { link, customer }: HeldLink, now: Date): Promise<void> {
  const email = { address: link.email, key: link.email_key };
  if (link.purpose === 'change')
    return await moveTo(tx, service, customer, { ...email, confirmedAt: now }, now);
  // It was mailed to an address that the account has left.
  if (customer.email_key !== link.email_key) badLink('unknown');
  await updateEmail(tx, customer.id, { address: customer.email, key: customer.email_key, confirmedAt: now });
}
