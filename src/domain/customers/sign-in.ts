import { fail } from '../../kernel/fail.ts';
import { findCustomerByEmail, lockCustomer } from '../../store/customers.ts';
import type { Service } from '../context.ts';
import { type Opened, openSession, type Visit } from '../sessions/open.ts';
import { parseEmail } from './email.ts';

/** Signs in; `bad_credentials` takes the same work whether the e-mail has an account or not. */
export async function signIn(
  service: Service,
  visit: Visit,
  form: { readonly email: string; readonly password: string },
): Promise<Opened> {
  const customer = await findCustomerByEmail(service.db, parseEmail(form.email)?.key ?? '');
  const fits = await service.passwords.verify(form.password, customer?.password_hash ?? null);
  if (!customer || !fits) fail('bad_credentials');
  return await service.db.transaction(async (tx) => {
    // A password changed while this one was being checked has ended all sessions: no new one may slip past it.
    const current = await lockCustomer(tx, customer.id);
    if (current?.password_hash !== customer.password_hash) fail('bad_credentials');
    return await openSession(tx, visit, { id: customer.id, action: 'customer.sign_in' }, service.clock.now());
  });
}
