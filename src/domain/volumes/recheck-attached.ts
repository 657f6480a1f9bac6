import type { Sql } from '../../kernel/sql.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import { listAttachedTo } from '../../store/volume-changes.ts';

/**
 * Has the volumes of servers that were just switched on looked at by their tasks: a driver starts a machine also without
 * a volume that it cannot plug in at that moment. True when there are any.
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
