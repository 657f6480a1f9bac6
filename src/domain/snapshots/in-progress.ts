/** Keeps a disk until its snapshots are complete: a customer with a 201 for one relies on it. */
import { MINUTE_MS } from '../../kernel/time.ts';
import type { ServerStatus } from '../../spec/states.ts';
import { hasSnapshotInProgress, type SnapshotWork } from '../../store/snapshots.ts';
import type { Service } from '../context.ts';

/** A snapshot that no driver starts by then blocks nothing: the server's host may be down. */
const START_TIMEOUT_MS = MINUTE_MS;
const DISK_REPLACING_STATUSES: readonly (ServerStatus | null)[] = ['installing', 'destroying'];

/** Whether a snapshot of the server's disk is in progress or about to start. */
export async function isSnapshotInProgress(service: Service, serverId: string): Promise<boolean> {
  const since = new Date(service.clock.now().getTime() - START_TIMEOUT_MS);
  return await hasSnapshotInProgress(service.db, serverId, since);
}

/**
 * Whether the driver can still create the snapshot: the server exists and has the intended disk. Started
 * after a rebuild, it would capture a disk that the customer did not mean.
 */
export function canCreateSnapshot(snapshot: SnapshotWork, now: Date): boolean {
  if (snapshot.server_status === null) return false;
  if (snapshot.begun) return true;
  const isOverdue = now.getTime() - snapshot.created_at.getTime() >= START_TIMEOUT_MS;
  if (isOverdue && DISK_REPLACING_STATUSES.includes(snapshot.server_status)) return false;
  return snapshot.server_generation === snapshot.generation;
}
