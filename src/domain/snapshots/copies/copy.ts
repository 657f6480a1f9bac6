/**
 * Copies one snapshot to the store of files, or deletes the copy of a deleted one. Every step may run
 * twice: the host says what it prepared, and the store which parts of it are there.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { formatId } from '../../../kernel/ids.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { BlobMissingError, type CopyFile, type CopyStore, type CopyUpload } from '../../../ports/blobs.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { CopyPart, PreparedCopy, SnapshotCopies } from '../../../ports/copies.ts';
import { isDiskMoving } from '../../../store/servers/disk-moves.ts';
import {
  type CopiedSnapshot,
  deleteCopy,
  findCopiedSnapshot,
  type LeasedCopy,
  recordCopyProgress,
  recordPrepared,
  recordStoredCopy,
} from '../../../store/servers/snapshot-copies.ts';
import { findFetch, forgetFetch } from '../../../store/servers/snapshot-fetches.ts';
import type { Service } from '../../context.ts';
import { withDriverTimeout } from '../../servers/operations/driver-call.ts';

const POLL_MS = SECOND_MS;
const MOVING_WAIT_S = 10;
const FETCH_CHECK_S = 60;
const NO_STORE_WAIT_S = 3_600;
/** A question about any file: the store answers it only while it is there. */
const NO_FILE: CopyFile = { sizeBytes: 0, partMd5s: [] };
/** Parts that a host may send before it needs new URLs. */
const PARTS_AT_ONCE = 8;
/** A copy of a full disk is larger than the disk by its tables. */
const TABLES_SHARE = 1 / 1024;
const TABLES_MIN_BYTES = 16 * 1024 ** 2;
const GIB = 1024 ** 3;

interface Work {
  readonly service: Service;
  readonly copy: LeasedCopy;
  readonly store: CopyStore;
  readonly copies: SnapshotCopies;
  readonly signal: AbortSignal;
}

/** The snapshot is gone, or the process stops: the next run decides what to do. */
class Interrupted extends Error {}

/** Returns after how many seconds to run again; null: there is nothing left to do. Throws what fails. */
export async function continueCopy(
  service: Service,
  copy: LeasedCopy,
  signal: AbortSignal,
): Promise<number | null> {
  const snapshot = await findCopiedSnapshot(service.db, copy.snapshot_id);
  if (snapshot === undefined || isUseless(snapshot)) return await deleteObject(service, copy);
  if (copy.stored && snapshot.host_id === null) return await endIdleFetch(service, copy);
  const { copies } = service.compute;
  const store = service.blobs.copies;
  if (copies && store === undefined && copy.prepared) await forgetFile({ service, copy, copies });
  if (store === undefined || !copies)
    throw new ComputeError('refused', 'SKERRY_S3_URL is not set, or hosts cannot copy snapshots');
  const work = { service, copy, store, copies, signal };
  try {
    if (!copy.stored) {
      if (await isDiskMoving(service.db, copy.snapshot_id)) return MOVING_WAIT_S;
      const prepared = await prepare(work, snapshot);
      await sendMissingParts(work, prepared);
      await confirm(work, prepared);
    }
    await withDriverTimeout(copies.forgetCopy(copy.snapshot_id));
    return null;
  } catch (error) {
    if (error instanceof Interrupted) return 0;
    throw error;
  }
}

function isUseless({ status, lost_at: lostAt }: CopiedSnapshot): boolean {
  return status !== 'ready' || lostAt !== null;
}

/** Without a store, another process may have one, or this one again. */
async function deleteObject({ db, blobs }: Service, copy: LeasedCopy): Promise<number | null> {
  if (blobs.copies === undefined) return NO_STORE_WAIT_S;
  await blobs.copies.remove(copy.snapshot_id);
  await deleteCopy(db, copy);
  return null;
}

/** Removes what a fetch left on a host, once no operation needs it. The lease keeps others away. */
async function endIdleFetch({ db, compute }: Service, copy: LeasedCopy): Promise<number | null> {
  const { snapshot_id: id } = copy;
  const found = await db.transaction((tx) => findFetch(tx, id));
  if (found === 'needed') return FETCH_CHECK_S;
  if (found === 'none') return null;
  await withDriverTimeout(compute.removeSnapshot(id));
  await forgetFetch(db, copy);
  return null;
}

/** Lets the host write the file, but not while the store is away. What fails for itself leaves none. */
async function prepare(work: Work, snapshot: CopiedSnapshot): Promise<PreparedCopy> {
  const { service, copy, store } = work;
  await store.has(copy.snapshot_id, NO_FILE);
  if (!(await recordPrepared(service.db, copy, true))) throw new Interrupted();
  try {
    const file = await waitForFile(work);
    requireSensible(file, snapshot);
    return file;
  } catch (error) {
    // The host may copy others meanwhile.
    if (error instanceof ComputeError && error.fault !== 'transient') await forgetFile(work);
    throw error;
  }
}

async function forgetFile({
  service,
  copy,
  copies,
}: Pick<Work, 'service' | 'copy' | 'copies'>): Promise<void> {
  await withDriverTimeout(copies.forgetCopy(copy.snapshot_id));
  await recordPrepared(service.db, copy, false);
}

async function waitForFile(work: Work): Promise<PreparedCopy> {
  for (;;) {
    const prepared = await withDriverTimeout(work.copies.prepareCopy(work.copy.snapshot_id));
    if (prepared !== null) return prepared;
    await waitWhileWanted(work);
  }
}

/** A host that someone else took over must not fill the store. */
function requireSensible({ sizeBytes, partBytes, partMd5s }: PreparedCopy, { disk_gb: gb }: CopiedSnapshot) {
  const maxBytes = gb * GIB * (1 + TABLES_SHARE) + TABLES_MIN_BYTES;
  if (sizeBytes > maxBytes || partMd5s.length !== Math.ceil(sizeBytes / partBytes))
    throw new ComputeError('refused', 'the host prepared a copy that cannot be one of this snapshot');
}

async function sendMissingParts(work: Work, file: PreparedCopy): Promise<void> {
  const { copy, store } = work;
  // A process that was killed may have completed it.
  if (await store.has(copy.snapshot_id, file)) return;
  for (;;) {
    const upload = await store.open(copy.snapshot_id);
    const missing = missingParts(upload, file);
    const sentBytes = file.sizeBytes - missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    await recordCopyProgress(work.service.db, copy, { sizeBytes: file.sizeBytes, sentBytes });
    if (missing.length === 0) return await complete(upload, file);
    const parts = await Promise.all(
      missing.slice(0, PARTS_AT_ONCE).map(async ({ number, ...part }): Promise<CopyPart> => {
        return { ...part, url: await upload.signPart(number, part) };
      }),
    );
    await waitForParts(work, parts);
  }
}

async function complete(upload: CopyUpload, file: PreparedCopy): Promise<void> {
  await upload.complete(file).catch((error: unknown) => {
    if (!(error instanceof BlobMissingError)) throw error;
    throw new ComputeError('transient', 'the file store ended the upload');
  });
}

function missingParts({ parts }: CopyUpload, { sizeBytes, partBytes, partMd5s }: PreparedCopy) {
  return partMd5s.flatMap((md5, index) => {
    const offset = index * partBytes;
    const part = { number: index + 1, offset, sizeBytes: Math.min(partBytes, sizeBytes - offset), md5 };
    return parts.get(part.number) === md5 ? [] : [part];
  });
}

async function waitForParts(work: Work, parts: readonly CopyPart[]): Promise<void> {
  for (;;) {
    const progress = await withDriverTimeout(work.copies.sendCopy(work.copy.snapshot_id, parts));
    if (progress.state === 'done') return;
    if (progress.state === 'failed')
      throw new ComputeError('transient', progress.message ?? 'sending failed');
    await waitWhileWanted(work);
  }
}

async function waitWhileWanted({ service, copy, signal }: Work): Promise<void> {
  await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
  const snapshot = await findCopiedSnapshot(service.db, copy.snapshot_id);
  if (signal.aborted || snapshot === undefined || isUseless(snapshot)) throw new Interrupted();
}

/** From this commit on, the snapshot is not lost with its host. */
async function confirm({ service, copy }: Work, { sizeBytes, sha256 }: PreparedCopy): Promise<void> {
  const id = copy.snapshot_id;
  const isStored = await service.db.transaction(async (tx) => {
    const snapshot = await findCopiedSnapshot(tx, id, { lock: true });
    if (snapshot === undefined || isUseless(snapshot)) return false;
    return await recordStoredCopy(tx, copy, { sizeBytes, sha256 });
  });
  if (!isStored) throw new Interrupted();
  service.log.info({ snapshot: formatId('snapshot', id) }, 'the file store has a copy of the snapshot');
}
