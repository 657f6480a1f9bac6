/** Lets the host of a server fetch the copy of a snapshot that no host has, before it is used there. */
import { formatId } from '../../../kernel/ids.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { CopyProgress } from '../../../ports/copies.ts';
import type { OperationRow, OperationStep } from '../../../store/servers/operations.ts';
import { type CopyToFetch, findCopyToFetch, placeFetchedSnapshot } from '../../../store/snapshot-copies.ts';
import type { Service } from '../../context.ts';
import {
  callDriver,
  ENSURE_TIMEOUT_MS,
  IMAGE_TIMEOUT_MS,
  IMAGE_WAIT_MS,
} from '../../servers/operations/driver-call.ts';
import { advance, retryWithBackoff } from '../../servers/operations/step.ts';

/** Attempts in a row that end without the snapshot, after which the operation takes its failing step. */
const ATTEMPTS_MAX = 5;

/** Returns true if no copy is needed. Otherwise the step waits until the host has it, or fails. */
export async function hasFetchedCopy(
  service: Service,
  operation: OperationRow,
  snapshotId: string,
  failingStep: OperationStep,
): Promise<boolean> {
  const copy = await findCopyToFetch(service.db, snapshotId, operation.server_id);
  if (copy === undefined) return true;
  let progress: CopyProgress | undefined;
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: async () => {
      progress = await fetchCopy(service, snapshotId, copy);
    },
    failureMessage: 'copy of a snapshot could not be fetched',
  });
  if (progress?.state === 'done') {
    await placeFetchedSnapshot(service.db, snapshotId, copy.host_id);
    service.log.info(
      { snapshot: formatId('snapshot', snapshotId), host: copy.host },
      'snapshot fetched from the file store',
    );
    return true;
  }
  if (progress?.state === 'working') {
    const waits = 'the host fetches the snapshot from the file store';
    await advance(service, operation, { inMs: IMAGE_WAIT_MS, fault: waits });
    return false;
  }
  const message = fault?.message ?? progress?.message ?? 'the copy could not be fetched';
  const isOver = isFinal(service, operation, fault?.fault === 'transient');
  const next =
    isOver || fault?.fault === 'refused' ? { step: failingStep } : retryWithBackoff(service, operation);
  await advance(service, operation, { ...next, fault: message, cause: 'host_failed' });
  return false;
}

/** A store or host that is away may be back soon. */
function isFinal({ clock }: Service, operation: OperationRow, mayPass: boolean): boolean {
  const sinceMs = clock.now().getTime() - operation.created_at.getTime();
  return mayPass ? sinceMs > IMAGE_TIMEOUT_MS : operation.attempts + 1 >= ATTEMPTS_MAX;
}

async function fetchCopy({ blobs, compute }: Service, id: string, copy: CopyToFetch): Promise<CopyProgress> {
  if (blobs.copies === undefined || !compute.copies)
    throw new ComputeError('transient', 'the snapshot is in the file store, but SKERRY_S3_URL is not set');
  const { host, machineId, generation, diskGb, sizeGb, sizeBytes, sha256 } = copy;
  const url = await blobs.copies.signRead(id);
  return await compute.copies.fetchCopy(
    id,
    { host, machineId, generation, diskGb, sizeGb },
    { sizeBytes, sha256, url },
  );
}
