import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { deleteSshKey } from '../../store/ssh-keys.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

/** Deletes a key by its public id; fails with `not_found`. Servers created with it keep it. */
export async function removeSshKey(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('sshKey', shownId) ?? notFound('sshKey');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await deleteSshKey(tx, actor.customerId, id))) notFound('sshKey');
    await recordAudit(tx, { actor, action: 'ssh_key.delete', resource: shownId }, now);
  });
}
