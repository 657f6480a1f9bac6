import { fail } from '../../kernel/fail.ts';
import { newId, newPublicNumber } from '../../kernel/ids.ts';
import { insertCustomer } from '../../store/customers/customers.ts';
import { isReservedForOwner } from '../../store/customers/mail-links.ts';
import type { Service } from '../context.ts';
import { type OpenedSession, openSession, type Visit } from '../sessions/open.ts';
import { requireEmail } from './email.ts';
import { enqueueConfirmation } from './mail-confirmation.ts';
import { requireNewPassword } from './password.ts';
import { newRecoveryCode } from './recovery-code.ts';

export interface SignUpResult extends OpenedSession {
  /** Shown only here. */
  readonly recoveryCode: string;
}

/**
 * Creates an account and signs in. Fails with `bad_email`, `weak_password`, `password_mismatch`, or
 * `email_taken`.
 */
export async function signUp(
  service: Service,
  visit: Visit,
  form: { readonly email: string; readonly password: string; readonly passwordConfirm: string },
): Promise<SignUpResult> {
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
