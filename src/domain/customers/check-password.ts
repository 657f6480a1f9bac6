import { fail } from '../../kernel/fail.ts';
import { findCustomer } from '../../store/customers/customers.ts';
import type { CustomerActor, Service } from '../context.ts';

/**
 * Verifies the password of a signed-in customer; fails with `bad_credentials`. Returns the stored hash, so
 * that the caller can check in its transaction that it has not changed.
 */
export async function checkPassword(
  service: Service,
  actor: CustomerActor,
  password: string,
): Promise<string> {
  const customer = await findCustomer(service.db, actor.customerId);
  const matches = await service.passwords.verify(password, customer?.password_hash ?? null);
  if (!customer || !matches) fail('bad_credentials');
  return customer.password_hash;
}
