/** Lets the host of a server fetch the copy of a snapshot that no host has, before it is used there. */
import { formatId } from '../../../kernel/ids.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { CopyProgress } from '../../../ports/copies.ts';
import type { OperationRow, OperationStep } from '../../../store/servers/operations.ts';
import {
  type CopyToFetch,
  findCopyToFetch,
  holdFetch,
  placeFetchedSnapshot,
  recordFetchProgress,
} from '../../../store/servers/snapshot-fetches.ts';
import type { Service } from '../../context.ts';
import {
  callDriver,
  ENSURE_TIMEOUT_MS,
  IMAGE_TIMEOUT_MS,
  IMAGE_WAIT_MS,
} from '../../servers/operations/driver-call.ts';
import { advance, retryWithBackoff } from '../../servers/operations/step.ts';

/** Attempts in a row that the host or the content fails, after which the operation takes its failing step. */
const ATTEMPTS_MAX = 5;
/** Between attempts while the store is away. */
const STORE_WAIT_MS = 10 * SECOND_MS;

type Failed = Pick<ComputeError, 'fault' | 'message'>;

/** Returns true if no copy is needed. Otherwise the step waits until the host has it, or fails. */
export async function hasFetchedCopy(
  service: Service,
  operation: OperationRow,
  snapshotId: string,
  failingStep: OperationStep,
): Promise<boolean> {
  const { db, clock } = service;
  const copy = await findCopyToFetch(db, snapshotId, operation.server_id);
  if (copy === undefined) return true;
  const fetching = { snapshotId, operationId: operation.id };
  const movedAt = await db.transaction((tx) => holdFetch(tx, fetching, clock.now()));
  if (movedAt === undefined) {
    await wait(service, operation, 'another server gets the snapshot from the file store first');
    return false;
  }
  const seen = await readProgress(service, operation, { id: snapshotId, copy });
  if ('state' in seen && seen.state === 'done') {
    const isPlaced = await db.transaction((tx) => placeFetchedSnapshot(tx, fetching, copy.host_id));
    if (!isPlaced) {
      await wait(service, operation, 'the host has the snapshot no longer');
      return false;
    }
    const shown = { snapshot: formatId('snapshot', snapshotId), host: copy.host };
    service.log.info(shown, 'snapshot fetched from the file store');
    return true;
  }
  if ('bytes' in seen) await recordFetchProgress(db, fetching, { bytes: seen.bytes, now: clock.now() });
  await advanceFetch(service, operation, { seen, movedAt, failingStep });
  return false;
}

async function readProgress(
  service: Service,
  operation: OperationRow,
  { id, copy }: { readonly id: string; readonly copy: CopyToFetch },
): Promise<CopyProgress | Failed> {
  let progress: CopyProgress | undefined;
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: async () => {
      progress = await fetchCopy(service, id, copy);
    },
    failureMessage: 'copy of a snapshot could not be fetched',
  });
  return fault ?? progress ?? { fault: 'transient', message: 'the copy could not be fetched' };
}

/** Waits up to an hour for bytes from a store or a host that is away, and repeats other failures. */
async function advanceFetch(
  service: Service,
  operation: OperationRow,
  now: {
    readonly seen: CopyProgress | Failed;
    readonly movedAt: Date;
    readonly failingStep: OperationStep;
  },
): Promise<void> {
  const { seen, movedAt, failingStep } = now;
  const { attempts } = operation;
  const isStuck = service.clock.now().getTime() - movedAt.getTime() > IMAGE_TIMEOUT_MS;
  const message = seen.message ?? 'the host fetches the snapshot from the file store';
  const isWorking = 'state' in seen && seen.state === 'working';
  const mayPass = isWorking || seen.fault === 'transient' || seen.fault === 'waiting';
  if (mayPass && !isStuck)
    return await wait(service, operation, message, isWorking ? IMAGE_WAIT_MS : STORE_WAIT_MS);
  const isOver = mayPass || seen.fault === 'refused' || attempts + 1 >= ATTEMPTS_MAX;
  const next = isOver ? { step: failingStep } : retryWithBackoff(service, operation);
  await advance(service, operation, { ...next, fault: message, cause: 'host_failed' });
}

/** The same step again, which has not failed. */
async function wait(
  service: Service,
  operation: OperationRow,
  fault: string,
  inMs = IMAGE_WAIT_MS,
): Promise<void> {
  await advance(service, operation, { attempts: operation.attempts, inMs, fault });
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
