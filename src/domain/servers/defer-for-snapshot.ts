import type { OperationRow } from '../../store/servers/operations.ts';
import type { Service } from '../context.ts';
import { isSnapshotInProgress } from '../snapshots/in-progress.ts';
import { POLL_INTERVAL_MS } from './inspect-machines.ts';
import { advance } from './step.ts';

/** Postpones a step that removes the disk while a snapshot of it is in progress; returns whether it did. */
export async function deferForSnapshot(service: Service, operation: OperationRow): Promise<boolean> {
  if (!(await isSnapshotInProgress(service, operation.server_id))) return false;
  const { attempts } = operation;
  await advance(service.db, service, operation, { attempts, inMs: POLL_INTERVAL_MS });
  return true;
}
