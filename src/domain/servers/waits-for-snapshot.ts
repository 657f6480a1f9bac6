import type { OperationRow } from '../../store/operations.ts';
import type { Service } from '../context.ts';
import { isSnapshotUnderWay } from '../snapshots/under-way.ts';
import { LOOK_EVERY_MS } from './look.ts';
import { advance } from './step.ts';

/** Whether the step, which takes the server's disk away, was put off because a snapshot of it is being made. */
export async function waitsForSnapshot(service: Service, operation: OperationRow): Promise<boolean> {
  if (!(await isSnapshotUnderWay(service, operation.server_id))) return false;
  const { attempts } = operation;
  await advance(service.db, service, operation, { attempts, inMs: LOOK_EVERY_MS });
  return true;
}
