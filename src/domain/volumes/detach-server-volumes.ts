import type { Sql } from '../../kernel/sql.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import { detachVolume, lockVolumesOf } from '../../store/volume-changes.ts';

/**
 * Detaches what is attached to a server that is being destroyed, in the transaction that decides it. The caller holds the
 * server's lock. Their events come by themselves, when the driver has confirmed it.
 */
export async function detachServerVolumes(tx: Sql, serverId: string, now: Date): Promise<void> {
  const volumes = await lockVolumesOf(tx, serverId);
  for (const { id } of volumes) await detachVolume(tx, id);
  await enqueueTasks(tx, { kind: 'volume', subjects: volumes.map(({ id }) => id), now });
}
