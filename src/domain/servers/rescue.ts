/** Rescue: the machine boots a system of its own, which root enters with a password shown once. */
import { rootPasswords } from '../../kernel/crypt.ts';
import { newSecretText } from '../../kernel/ids.ts';
import type { RescuedServer } from '../../spec/schemas/server-actions.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { Within } from '../idempotency.ts';
import { getServer } from './find.ts';
import { operateOn } from './operate-on.ts';

/** The answer holds the password; nothing else does: its hash waits sealed until the rescue system has it. */
export async function rescueServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  within?: Within,
): Promise<RescuedServer> {
  // A hash costs a worker's time: not for a server that cannot be rescued.
  await getServer(service, actor, shownId);
  const password = newSecretText();
  const passwordHash = await rootPasswords.hash(password);
  const plan = async () => ({ step: 'enter_rescue', payload: { passwordHash } }) as const;
  const rescue = { username: 'root', password } as const;
  return await operateOn(service, { actor, shownId, action: 'rescue', within }, plan, { rescue });
}
