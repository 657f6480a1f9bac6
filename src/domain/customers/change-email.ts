/**
 * Changes the account's email address. The new address takes effect when the link in its mailbox is used,
 * so that a typo locks no one out. Without a mailer, it takes effect at once. The old address is notified
 * and can undo the change for a week by setting a new password, so a stolen password is not enough to keep
 * an account. Until then, the old address is reserved.
 */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CustomerRow, lockCustomer, updateEmail } from '../../store/customers/customers.ts';
import { invalidateLinks } from '../../store/customers/mail-links.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { checkPassword } from './check-password.ts';
import { type Email, requireEmail } from './email.ts';
import { applyEmailChange, requireEmailAvailable, withEmailTakenCheck } from './email-address.ts';
import { enqueueConfirmation } from './mail-confirmation.ts';
import { requireLinkMailQuota } from './mail-links.ts';

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
