import type { Sql } from '../../kernel/sql.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import { detachVolume, lockVolumesOf } from '../../store/volumes/changes.ts';

/**
 * Detaches the volumes of a server that is being destroyed, in the transaction that starts the removal. The
 * caller holds the server's lock. Their events follow when the driver confirms.
 */
export async function detachServerVolumes(tx: Sql, serverId: string, now: Date): Promise<void> {
  const volumes = await lockVolumesOf(tx, serverId);
  for (const { id } of volumes) await detachVolume(tx, id);
  await enqueueTasks(tx, { kind: 'volume', subjects: volumes.map(({ id }) => id), now });
}
