/** Takes the shared disk of a server from its lost host, before anything else uses it. */
import { SECOND_MS } from '../../../kernel/time.ts';
import { ComputeError } from '../../../ports/compute.ts';
import { findDiskSeizure } from '../../../store/inventory/shared-storage.ts';
import { findMove } from '../../../store/servers/moves.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import type { Service } from '../../context.ts';
import { callDriver } from '../operations/driver-call.ts';
import { advance, retryWithBackoff } from '../operations/step.ts';

/** While the other host of a move gives up the disk. */
const COPY_WAIT_MS = 2 * SECOND_MS;

/**
 * `seized`: the storage proves that the lost host can no longer write. `none`: no lost host has a shared disk
 * of the server. `waiting`: the step is postponed.
 */
export async function seizeDisk(
  service: Service,
  operation: OperationRow,
): Promise<'seized' | 'none' | 'waiting'> {
  const { db, compute } = service;
  const serverId = operation.server_id;
  const seizure = await findDiskSeizure(db, serverId);
  if (seizure === undefined) return 'none';
  const move = await findMove(db, serverId);
  // Its source may still have the claim, and the seizure would fence that host.
  if (move && move.state !== 'queued') {
    await advance(service, operation, { attempts: operation.attempts, inMs: COPY_WAIT_MS });
    return 'waiting';
  }
  const fault = await callDriver(service, operation, {
    call: async () => {
      if (seizure.by === null || compute.seizeDisk === null)
        throw new ComputeError('transient', 'no host can take the disk from a lost one');
      await compute.seizeDisk(serverId, seizure.by);
    },
    failureMessage: 'disk could not be taken from a lost host',
  });
  if (fault === null) return 'seized';
  await advance(service, operation, { ...retryWithBackoff(service, operation), fault: fault.message });
  return 'waiting';
}
