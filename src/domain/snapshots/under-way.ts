/** A disk that is about to go is kept until the snapshots of it are made: whoever has a 201 for one counts on it. */
import { MINUTE_MS } from '../../kernel/time.ts';
import type { ServerStatus } from '../../spec/states.ts';
import { hasSnapshotUnderWay, type SnapshotWork } from '../../store/snapshots.ts';
import type { Service } from '../context.ts';

/** One that no driver has begun by then will not keep anybody waiting: its server's host may be away. */
const BEGINS_WITHIN_MS = MINUTE_MS;
const TAKES_DISK_AWAY: readonly (ServerStatus | null)[] = ['installing', 'destroying'];

/** Whether the server's disk is still read for a snapshot, or is going to be. */
export async function isSnapshotUnderWay(service: Service, serverId: string): Promise<boolean> {
  const since = new Date(service.clock.now().getTime() - BEGINS_WITHIN_MS);
  return await hasSnapshotUnderWay(service.db, serverId, since);
}

/**
 * Whether there is something to ask the driver about: its server still is, and has the disk that was meant. Begun later than
 * a rebuild, it would hold what the customer never asked for.
 */
export function canBeMade(snapshot: SnapshotWork, now: Date): boolean {
  if (snapshot.server_status === null) return false;
  if (snapshot.begun) return true;
  const late = now.getTime() - snapshot.created_at.getTime() >= BEGINS_WITHIN_MS;
  if (late && TAKES_DISK_AWAY.includes(snapshot.server_status)) return false;
  return snapshot.server_generation === snapshot.generation;
}
