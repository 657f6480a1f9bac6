/** A disk that is about to go is kept until the snapshots of it are made: whoever has a 201 for one counts on it. */
import { MINUTE_MS } from '../../kernel/time.ts';
import type { ServerStatus } from '../../spec/states.ts';
import { hasSnapshotInProgress, type SnapshotWork } from '../../store/snapshots.ts';
import type { Service } from '../context.ts';

/** One that no driver has begun by then will not keep anybody waiting: its server's host may be away. */
const START_TIMEOUT_MS = MINUTE_MS;
const DISK_REPLACING_STATUSES: readonly (ServerStatus | null)[] = ['installing', 'destroying'];

/** Whether the server's disk is still read for a snapshot, or is going to be. */
export async function isSnapshotInProgress(service: Service, serverId: string): Promise<boolean> {
  const since = new Date(service.clock.now().getTime() - START_TIMEOUT_MS);
  return await hasSnapshotInProgress(service.db, serverId, since);
}

/**
 * Whether there is something to ask the driver about: its server still is, and has the disk that was meant. Begun later than
 * a rebuild, it would hold what the customer never asked for.
 */
export function canCreateSnapshot(snapshot: SnapshotWork, now: Date): boolean {
  if (snapshot.server_status === null) return false;
  if (snapshot.begun) return true;
  const isOverdue = now.getTime() - snapshot.created_at.getTime() >= START_TIMEOUT_MS;
  if (isOverdue && DISK_REPLACING_STATUSES.includes(snapshot.server_status)) return false;
  return snapshot.server_generation === snapshot.generation;
}
