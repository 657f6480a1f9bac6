import type { Sql } from '../../kernel/sql.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import { listAttachedTo } from '../../store/volumes/changes.ts';

/**
 * Schedules the tasks of the volumes of servers that were just powered on: a driver may start a machine
 * without a volume that it cannot attach at that moment. Returns whether there are any.
 */
export async function recheckAttachedVolumes(
  tx: Sql,
  serverIds: readonly string[],
  now: Date,
): Promise<boolean> {
  const subjects = await listAttachedTo(tx, serverIds);
  if (subjects.length === 0) return false;
  await enqueueTasks(tx, { kind: 'volume', subjects, now });
  return true;
}
