import { fail } from '../../kernel/fail.ts';
import { findCustomerByEmail, lockCustomer } from '../../store/customers/customers.ts';
import type { Service } from '../context.ts';
import { notifySignIn } from '../sessions/notify-sign-in.ts';
import { type OpenedSession, openSession, type Visit } from '../sessions/open.ts';
import { parseEmail } from './email.ts';
import { commitThenThrow, consumeCode } from './totp-check.ts';

/**
 * Signs in. `bad_credentials` takes the same amount of work whether the account exists or not. With a
 * second factor, and only after the correct password, fails with `code_required`, `bad_code`, or
 * `rate_limited`.
 */
export async function signIn(
  service: Service,
  visit: Visit,
  form: { readonly email: string; readonly password: string; readonly code: string },
  atMs = Date.now(),
): Promise<OpenedSession> {
  const customer = await findCustomerByEmail(service.db, parseEmail(form.email)?.key ?? '');
  const matches = await service.passwords.verify(form.password, customer?.password_hash ?? null);
  if (!customer || !matches) fail('bad_credentials');
  const opened = await commitThenThrow(service.db, async (tx) => {
    // A concurrent password change ended all sessions. A sign-in with the old password must not add one.
    const current = await lockCustomer(tx, customer.id);
    if (current?.password_hash !== customer.password_hash || current.deleting_at) fail('bad_credentials');
    const refused = await consumeCode(tx, service, customer.id, { code: form.code, atMs });
    if (refused) return refused;
    const now = service.clock.now();
    const session = await openSession(tx, visit, { id: customer.id, action: 'customer.sign_in' }, now);
    await notifySignIn(tx, service, { customerId: customer.id, ...session }, now);
    return session;
  });
  service.wake();
  return opened;
}
