import { timingSafeEqual } from 'node:crypto';
import { fail } from '../../kernel/fail.ts';
import {
  findCustomerByEmail,
  lockCustomer,
  updatePassword,
  updateRecovery,
} from '../../store/customers/customers.ts';
import { invalidateLinks } from '../../store/customers/mail-links.ts';
import { deleteOtherSessions } from '../../store/customers/sessions.ts';
import { deleteTotp } from '../../store/customers/totp.ts';
import type { Service } from '../context.ts';
import { notifySignIn } from '../sessions/notify-sign-in.ts';
import { openSession, type Visit } from '../sessions/open.ts';
import { parseEmail } from './email.ts';
import { notifyAccountChange } from './notify-change.ts';
import { requireNewPassword } from './password.ts';
import { newRecoveryCode, recoveryDigest } from './recovery-code.ts';
import type { SignUpResult } from './sign-up.ts';

/** Compared with if no account has the address. No code has this digest. */
const NO_DIGEST = Buffer.alloc(32);
const WRONG_CREDENTIALS = 'The email address or recovery code is incorrect.';

/**
 * Sets a new password with the recovery code, ends all sessions, signs in, and returns a new single-use
 * code. Also turns off the second factor, because the code is the way in after a lost phone. Fails with
 * `weak_password` or `password_mismatch`, then `bad_credentials` after the same amount of work for every
 * address.
 */
export async function recoverAccount(
  service: Service,
  visit: Visit,
  form: {
    readonly email: string;
    readonly recoveryCode: string;
    readonly password: string;
    readonly passwordConfirm: string;
  },
): Promise<SignUpResult> {
  requireNewPassword(form.password, form.passwordConfirm);
  const given = recoveryDigest(form.recoveryCode);
  const customer = await findCustomerByEmail(service.db, parseEmail(form.email)?.key ?? '');
  const matches = timingSafeEqual(given, customer?.recovery_digest ?? NO_DIGEST);
  if (!customer || !matches) fail('bad_credentials', {}, WRONG_CREDENTIALS);
  if (customer.deleting_at) fail('bad_credentials', {}, WRONG_CREDENTIALS);
  if (customer.frozen_at) fail('account_frozen');
  const passwordHash = await service.passwords.hash(form.password);
  const newCode = newRecoveryCode();
  const signedUp = await service.db.transaction(async (tx) => {
    const current = await lockCustomer(tx, customer.id);
    if (!current?.recovery_digest?.equals(given) || current.deleting_at)
      fail('bad_credentials', {}, WRONG_CREDENTIALS);
    const now = service.clock.now();
    await updatePassword(tx, customer.id, passwordHash);
    await updateRecovery(tx, customer.id, newCode.digest);
    await deleteOtherSessions(tx, customer.id, null);
    // Links requested with the old password stop working.
    await invalidateLinks(tx, customer.id, ['change', 'reset']);
    if (await deleteTotp(tx, customer.id)) {
      const recipient = { customerId: customer.id, ipCountry: visit.actor.ipCountry };
      const change = { kind: 'totp_changed', on: false, by: 'recovery_code', to: current.email } as const;
      await notifyAccountChange(tx, service, recipient, change, now);
    }
    const recovered = { id: customer.id, action: 'customer.recover', recoveryCode: newCode.text } as const;
    const opened = await openSession(tx, visit, recovered, now);
    await notifySignIn(tx, service, { customerId: customer.id, ...opened }, now);
    return { ...opened, recoveryCode: newCode.text };
  });
  service.wake();
  return signedUp;
}
