import { fail, notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { deleteSnapshot as deleteRow, isBeingRestored, lockSnapshot } from '../../store/snapshots.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

/** Deletes a snapshot that is not being created. Refuses with `not_found` and `conflict_state`. */
export async function deleteSnapshot(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('snapshot', shownId) ?? notFound('snapshot');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const snapshot = (await lockSnapshot(tx, actor.customerId, id)) ?? notFound('snapshot');
    if (snapshot.status === 'creating') {
      fail('conflict_state', {}, 'The snapshot is being created. Delete it when it is ready.');
    }
    if (await isBeingRestored(tx, id)) {
      fail(
        'conflict_state',
        {},
        'A server is being restored from this snapshot. Delete it when the restore is done.',
      );
    }
    await deleteRow(tx, id);
    await enqueueTask(tx, { kind: 'snapshot', subject: id, now });
    await recordAudit(tx, { actor, action: 'snapshot.delete', resource: formatId('snapshot', id) }, now);
  });
  service.wake();
}
