/** A root password that a customer chooses for an install. The password itself is kept nowhere. */
import { rootPasswordHasher } from '../../kernel/crypt.ts';
import { fail } from '../../kernel/fail.ts';
import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { isPrintable } from '../../kernel/printable.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { CustomerActor, Service } from '../context.ts';
import { type DeployOrder, requireDeployable } from './deploy.ts';

const hashQueue = new KeyedMutex();

/** Refuses with `bad_password` {hint}. */
export function requireRootPassword(password: string): void {
  const length = [...password].length;
  if (length < LIMITS.rootPasswordMinChars) refusePassword('The root password needs 12 or more characters.');
  if (length > LIMITS.rootPasswordMaxChars) {
    refusePassword('The root password has at most 128 characters; it needs 12 or more.');
  }
  if (!isPrintable(password)) {
    refusePassword('The root password takes printable characters only, 12 or more of them.');
  }
}

function refusePassword(hint: string): never {
  fail('bad_password', { hint }, hint);
}

/**
 * Seals the crypt hash that the guest takes. Hashing is dear, and one thread does it: a customer's deploys come to it one
 * by one, while he can still pay; refuses as `deploy` would now.
 */
export async function sealRootPassword(
  service: Service,
  actor: CustomerActor,
  order: Pick<DeployOrder, 'plan' | 'regionId' | 'billingMonths'>,
  password: string,
): Promise<string> {
  return await hashQueue.runExclusive(actor.customerId, async () => {
    await requireDeployable(service, actor, order);
    return service.keys.seal('root password', await rootPasswordHasher.hash(password));
  });
}
