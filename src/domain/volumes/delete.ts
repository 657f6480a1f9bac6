import { fail, notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { enqueueTask } from '../../store/tasks.ts';
import { deleteVolume as deleteRow, lockVolume, markVolumeDeleted } from '../../store/volumes/volumes.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

/**
 * Permanently deletes a detached volume and its content. Its disk is free once the driver confirms. Refuses
 * with `not_found` and `conflict_state`.
 */
export async function deleteVolume(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('volume', shownId) ?? notFound('volume');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const volume = (await lockVolume(tx, actor.customerId, id)) ?? notFound('volume');
    if (volume.server_id !== null) {
      fail('conflict_state', {}, 'The volume is attached to a server. Detach it first.');
    }
    if (volume.disk_gb === 0) {
      await deleteRow(tx, id);
    } else {
      await markVolumeDeleted(tx, id, now);
      await enqueueTask(tx, { kind: 'volume', subject: id, now });
    }
    await recordAudit(tx, { actor, action: 'volume.delete', resource: formatId('volume', id) }, now);
  });
  service.wake();
}
