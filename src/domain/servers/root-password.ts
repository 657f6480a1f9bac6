/** Validates and seals a root password that a customer chose. The plain password is never stored. */
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
  if (length < LIMITS.rootPasswordMinChars)
    refusePassword('The root password must have 12 or more characters.');
  if (length > LIMITS.rootPasswordMaxChars) {
    refusePassword('The root password must have at most 128 characters, and 12 or more.');
  }
  if (!isPrintable(password)) {
    refusePassword('The root password must have 12 or more characters, all of them printable.');
  }
}

function refusePassword(hint: string): never {
  fail('bad_password', { hint }, hint);
}

/**
 * Seals the crypt hash for the guest. Hashing is expensive and uses one thread, so a customer's deploys hash
 * one at a time, and only while they can still pay. Refuses as `deploy` would now.
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
