/** Signs up and signs in. */
import { fail } from '../../kernel/fail.ts';
import { newId, newPublicNumber } from '../../kernel/ids.ts';
import { findCustomerByEmail, insertCustomer, lockCustomer } from '../../store/customers/customers.ts';
import { isReservedForOwner } from '../../store/customers/mail-links.ts';
import type { Service } from '../context.ts';
import { notifySignIn, type OpenedSession, openSession, type Visit } from '../sessions/open.ts';
import { enqueueConfirmation } from './email/change.ts';
import { parseEmail, requireEmail } from './email/email.ts';
import { proveFactor } from './passkeys/sign-in.ts';
import { consume } from './passkeys/verify.ts';
import { requireNewPassword } from './password.ts';
import { newRecoveryCode, type RecoverableSession } from './recovery.ts';
import { commitThenThrow, consumeCode } from './totp-check.ts';

/**
 * Creates an account and signs in. Fails with `bad_email`, `weak_password`, `password_mismatch`, or
 * `email_taken`.
 */
export async function signUp(
  service: Service,
  visit: Visit,
  form: { readonly email: string; readonly password: string; readonly passwordConfirm: string },
): Promise<RecoverableSession> {
  const email = requireEmail(form.email);
  requireNewPassword(form.password, form.passwordConfirm);
  const passwordHash = await service.passwords.hash(form.password);
  const recovery = newRecoveryCode();
  const signedUp = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    // The previous owner of this address can still undo the change that released it.
    if (await isReservedForOwner(tx, email.key, null, now)) fail('email_taken');
    const id = newId(now);
    const inserted = await insertCustomer(tx, {
      id,
      publicNo: newPublicNumber(),
      email: email.address,
      emailKey: email.key,
      passwordHash,
      recoveryDigest: recovery.digest,
      createdAt: now,
    });
    if (!inserted) fail('email_taken');
    const customer = { id, action: 'customer.sign_up', recoveryCode: recovery.text } as const;
    const opened = await openSession(tx, visit, customer, now);
    await enqueueConfirmation(tx, service, { customerId: id, purpose: 'confirm', email }, now);
    return { ...opened, recoveryCode: recovery.text };
  });
  service.wake();
  return signedUp;
}

/**
 * Signs in. `bad_credentials` takes the same amount of work whether the account exists or not. With a
 * second factor, and only after the correct password, fails with `code_required`, `bad_code`, or
 * `rate_limited`. A passkey takes the place of the code; fails with `bad_passkey`.
 */
export async function signIn(
  service: Service,
  visit: Visit,
  form: {
    readonly email: string;
    readonly password: string;
    readonly code: string;
    /** The browser's answer of a passkey, in place of the code. */
    readonly passkey?: string;
  },
  atMs = Date.now(),
): Promise<OpenedSession> {
  const customer = await findCustomerByEmail(service.db, parseEmail(form.email)?.key ?? '');
  const lane = visit.isKnownDevice ? 'known' : 'others';
  const matches = await service.passwords.verify(form.password, customer?.password_hash ?? null, lane);
  if (!customer || !matches) fail('bad_credentials');
  const proof = await proveFactor(service, visit, customer.id, form.passkey);
  const opened = await commitThenThrow(service.db, async (tx) => {
    // A concurrent password change ended all sessions. A sign-in with the old password must not add one.
    const current = await lockCustomer(tx, customer.id);
    if (current?.password_hash !== customer.password_hash || current.deleting_at) fail('bad_credentials');
    const now = service.clock.now();
    if (proof) await consume(tx, proof, now);
    const refused = proof ? null : await consumeCode(tx, service, customer.id, { code: form.code, atMs });
    if (refused) return refused;
    const session = await openSession(tx, visit, { id: customer.id, action: 'customer.sign_in' }, now);
    await notifySignIn(tx, service, { customerId: customer.id, ...session }, now);
    return session;
  });
  service.wake();
  return opened;
}
