/** Boots a server into the rescue system, with a root password that is shown once. */
import { rootPasswordHasher } from '../../kernel/crypt.ts';
import { fail } from '../../kernel/fail.ts';
import { newSecretToken } from '../../kernel/ids.ts';
import type { RescuedServer } from '../../spec/schemas/server-actions.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { getServer } from './find.ts';
import { requestOperation } from './request-operation.ts';

/**
 * Returns the password in the response only; its hash is stored sealed until the rescue system has it.
 * Refuses with `not_found`, `conflict_state`, and `unavailable` if the driver has no rescue system.
 */
export async function rescueServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  beforeCommit?: SaveResponse,
): Promise<RescuedServer> {
  // Check first: hashing is expensive, and some servers cannot be rescued.
  await getServer(service, actor, shownId);
  const password = newSecretToken();
  const passwordHash = await rootPasswordHasher.hash(password);
  const { images } = service.compute;
  const hasRescueImage = images === null || (await images.rescue()) !== null;
  const plan = async () => {
    if (!hasRescueImage) fail('unavailable', { field: '' }, 'No rescue system is available for this server.');
    return { step: 'enter_rescue', payload: { passwordHash } } as const;
  };
  const rescue = { username: 'root', password } as const;
  return await requestOperation(service, { actor, shownId, action: 'rescue', beforeCommit }, plan, {
    rescue,
  });
}
