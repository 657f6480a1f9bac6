import { fail } from '../../kernel/fail.ts';
import { findCustomer } from '../../store/customers.ts';
import type { CustomerActor, Service } from '../context.ts';

/**
 * Has a signed-in customer prove himself again; refuses with `bad_credentials`. Returns the stored hash, for the
 * caller to see in his transaction that it is still the same.
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
