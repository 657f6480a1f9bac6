/**
 * Another address for the account. It becomes the account's when the link in its mailbox is used, so that nobody is
 * locked out by a slip of the keyboard; without mail, at once. The old address is told and has a week to take it back, with a
 * new password: whoever stole the password cannot keep the account. Until then nobody else is given that address.
 */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CustomerRow, lockCustomer, updateEmail } from '../../store/customers.ts';
import { invalidateLinks } from '../../store/mail-links.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { checkPassword } from './check-password.ts';
import { type Email, requireEmail } from './email.ts';
import { applyEmailChange, requireEmailAvailable, withEmailTakenCheck } from './email-address.ts';
import { enqueueConfirmation } from './mail-confirmation.ts';
import { requireLinkMailQuota } from './mail-links.ts';

export interface EmailChange {
  /** The account's address now. */
  readonly email: string;
  /** The one that it will have once its link is used; null: there is none. */
  readonly pendingEmail: string | null;
}

/** Refuses: `bad_email bad_credentials email_taken rate_limited`. */
export async function changeEmail(
  service: Service,
  actor: CustomerActor,
  form: { readonly currentPassword: string; readonly email: string },
): Promise<EmailChange> {
  const email = requireEmail(form.email);
  const checked = await checkPassword(service, actor, form.currentPassword);
  const change = await withEmailTakenCheck(() =>
    service.db.transaction(async (tx) => {
      const now = service.clock.now();
      const customer = await lockCustomer(tx, actor.customerId);
      if (customer?.password_hash !== checked) fail('bad_credentials');
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
    // Another spelling of the same address, or a change that is given up.
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
