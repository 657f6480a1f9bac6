/** Brings a snapshot to the host of the server that is created or restored from it. */
import { bringSnapshot } from '../../../store/servers/disk-moves.ts';
import { enqueueMove } from '../../../store/servers/moves.ts';
import type { OperationRow, OperationStep } from '../../../store/servers/operations.ts';
import type { Service } from '../../context.ts';
import { hasFetchedCopy } from '../../snapshots/copies/fetch.ts';
import { IMAGE_WAIT_MS } from './driver-call.ts';
import { advance } from './step.ts';

/** Failed moves of a snapshot to the server's host after which the operation takes its failing step. */
const SNAPSHOT_MOVES_MAX = 3;

/** Lets a snapshot of another host follow the server; the step waits meanwhile. */
export async function hasArrived(
  service: Service,
  operation: OperationRow,
  snapshotId: string,
  failingStep: OperationStep,
): Promise<boolean> {
  if (!(await hasFetchedCopy(service, operation, snapshotId, failingStep))) return false;
  // The driver restores on any of its hosts.
  if (service.compute.hosts === null) return true;
  const now = service.clock.now();
  const move = await service.db.transaction(async (tx) => {
    const found = await bringSnapshot(tx, { id: snapshotId, serverId: operation.server_id, now });
    if (found?.isNew) await enqueueMove(tx, { kind: 'snapshot', server_id: snapshotId }, now);
    return found;
  });
  if (move === null) return true;
  const fault = move.fault ?? 'the snapshot is on its way to the host of the server';
  const isFailing = move.attempts >= SNAPSHOT_MOVES_MAX;
  await advance(
    service,
    operation,
    isFailing ? { step: failingStep, fault } : { inMs: IMAGE_WAIT_MS, fault },
  );
  service.wake();
  return false;
}
