/**
 * Recovers an account with the recovery code: 128 random bits, shown once, that restore access when the
 * password is lost.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { fail } from '../../kernel/fail.ts';
import { base32 } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
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
import { notifySignIn, type OpenedSession, openSession, type Visit } from '../sessions/open.ts';
import { revokeAccess } from './access.ts';
import { parseEmail } from './email/email.ts';
import { notifyAccountChange } from './notify-change.ts';
import { requireNewPassword } from './password.ts';

export interface RecoverableSession extends OpenedSession {
  /** Shown only here. */
  readonly recoveryCode: string;
}

/** Compared with if no account has the address. No code has this digest. */
const NO_DIGEST = Buffer.alloc(32);
const WRONG_CREDENTIALS = 'The email address or recovery code is incorrect.';

/**
 * Sets a new password with the recovery code, ends all sessions, revokes all other access, signs in, and
 * returns a new single-use code. Also turns off the second factor, because the code is the way in after a
 * lost phone. Fails with `weak_password` or `password_mismatch`, then `bad_credentials` after the same amount
 * of work for every address.
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
): Promise<RecoverableSession> {
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
    const actor = { ...visit.actor, customerId: customer.id, sessionId: opened.sessionId };
    await revokeAccess(tx, service, actor, 'recovery_code', now);
    await notifySignIn(tx, service, { customerId: customer.id, ...opened }, now);
    return { ...opened, recoveryCode: newCode.text };
  });
  service.wake();
  return signedUp;
}

export interface RecoveryCode {
  /** In groups, for the customer to keep: `abcde-fghij-klmno-pqrst-uvwxyz`. */
  readonly text: string;
  /** SHA-256. The code itself is not stored. */
  readonly digest: Buffer;
}

export function newRecoveryCode(): RecoveryCode {
  const letters = base32(randomBytes(16));
  const starts = [0, 5, 10, 15, 20];
  const text = starts.map((start) => letters.slice(start, start === 20 ? undefined : start + 5)).join('-');
  return { text, digest: recoveryDigest(text) };
}

/** Returns the digest of a code as typed: case, spaces, and dashes do not matter. */
export function recoveryDigest(typed: string): Buffer {
  return digest(typed.toLowerCase().replace(/[\s-]/g, ''));
}
