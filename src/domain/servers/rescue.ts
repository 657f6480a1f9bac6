/** Rescue: the machine boots a system of its own, which root enters with a password shown once. */
import { rootPasswordHasher } from '../../kernel/crypt.ts';
import { fail } from '../../kernel/fail.ts';
import { newSecretToken } from '../../kernel/ids.ts';
import type { RescuedServer } from '../../spec/schemas/server-actions.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { getServer } from './find.ts';
import { requestOperation } from './request-operation.ts';

/**
 * The answer holds the password; nothing else does: its hash waits sealed until the rescue system has it. Refuses with
 * `not_found`, `conflict_state`, and `unavailable` where the driver has no rescue system.
 */
export async function rescueServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  beforeCommit?: SaveResponse,
): Promise<RescuedServer> {
  // A hash costs a worker's time: not for a server that cannot be rescued.
  await getServer(service, actor, shownId);
  const password = newSecretToken();
  const passwordHash = await rootPasswordHasher.hash(password);
  const { images } = service.compute;
  const hasRescueImage = images === null || (await images.rescue()) !== null;
  const plan = async () => {
    if (!hasRescueImage)
      fail('unavailable', { field: '' }, 'There is no rescue system where this server runs.');
    return { step: 'enter_rescue', payload: { passwordHash } } as const;
  };
  const rescue = { username: 'root', password } as const;
  return await requestOperation(service, { actor, shownId, action: 'rescue', beforeCommit }, plan, {
    rescue,
  });
}
