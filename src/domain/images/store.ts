/** Where the files of customers' images are: its check, its leftovers, and the move to a store. */
import { HOUR_MS } from '../../kernel/time.ts';
import { BlobDamagedError, BlobMissingError, BlobStoreError, type EarlierBlobs } from '../../ports/blobs.ts';
import { findBlobDigest, findUsedBlobs } from '../../store/images/stored.ts';
import { settleOrphanedCopies } from '../../store/servers/snapshot-copies.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../health/status.ts';
import { beginComparison, replaceMissing } from '../snapshots/copies/missing.ts';

/**
 * Longer than any upload takes, and than the time until someone notices that a restored database lacks its
 * newest images.
 */
const LEFTOVER_MIN_AGE_MS = 7 * 24 * HOUR_MS;
/** Keys that one statement looks up. */
const LOOKUP_SIZE = 500;

type Deps = Pick<Service, 'db' | 'blobs' | 'log'>;

/** Writes, reads, and deletes a small file. */
export async function checkFiles({ blobs }: Pick<Service, 'blobs'>): Promise<Finding[]> {
  const subject = 'files';
  try {
    await blobs.check();
  } catch (error) {
    if (!(error instanceof BlobStoreError)) throw error;
    return [{ level: 'fail', subject, message: error.message }];
  }
  if (blobs.earlier === undefined)
    return [{ level: 'ok', subject, message: 'customers’ images are in the data folder' }];
  const left = (await blobs.earlier.keys()).length;
  const message = `${left} files are still on this machine: run skerryd images move`;
  return [
    { level: 'ok', subject, message: 'the file store accepts, returns, and deletes files' },
    ...(left === 0 ? [] : [{ level: 'note', subject, message } as const]),
  ];
}

/**
 * Deletes what no image, no upload, and no snapshot has, once it is a week old. Returns how many keys that
 * were.
 */
export async function sweepFiles(
  { db, blobs, log }: Deps,
  now: Date,
  signal = new AbortController().signal,
): Promise<number> {
  const { stored } = blobs;
  if (stored === undefined) return 0;
  await settleOrphanedCopies(db);
  const since = await beginComparison({ db });
  const before = now.getTime() - LEFTOVER_MIN_AGE_MS;
  let removed = 0;
  const removeUnused = async (keys: readonly string[]) => {
    const used = await findUsedBlobs(db, keys);
    for (const key of keys.filter((each) => !used.has(each))) {
      if (signal.aborted) return;
      // Never a file on the disk, which a service with the wrong database would delete.
      await stored.remove(key);
      removed += 1;
    }
  };
  const old = new Set<string>();
  const recent = new Set<string>();
  for await (const { key, changedAt } of stored.list()) {
    if (signal.aborted) return 0;
    if (changedAt.getTime() < before) old.add(key);
    else recent.add(key);
  }
  await replaceMissing({ db, log }, (key) => old.has(key) || recent.has(key), since);
  const keys = [...old].filter((key) => !recent.has(key));
  for (let from = 0; from < keys.length; from += LOOKUP_SIZE)
    await removeUnused(keys.slice(from, from + LOOKUP_SIZE));
  if (removed > 0) log.info({ files: removed }, 'files that nothing refers to were deleted from the store');
  return removed;
}

/** How the move of one file ended. `unknown`: no image has it, so it stays. */
export interface MovedFile {
  readonly key: string;
  readonly outcome: 'moved' | 'unknown' | 'damaged';
  readonly sizeBytes: number;
  /** Less than the size if an earlier attempt had sent some of it. */
  readonly sentBytes: number;
  readonly message: string | null;
}

/** Moves the files on this machine to the store, one after another. The service may run meanwhile. */
export async function* moveFiles({
  db,
  blobs,
}: Pick<Service, 'db'> & {
  readonly blobs: Pick<Service['blobs'], 'stored' | 'earlier'>;
}): AsyncGenerator<MovedFile> {
  const { earlier } = blobs;
  for (const key of (await earlier?.keys()) ?? []) {
    const sha256 = await findBlobDigest(db, key);
    const nothing = { key, sizeBytes: 0, sentBytes: 0, message: null };
    if (sha256 === undefined || earlier === undefined) {
      yield { ...nothing, outcome: 'unknown' };
      continue;
    }
    const moved = await moveFile(earlier, key, sha256);
    if ((await findBlobDigest(db, key)) === undefined) {
      // The image was deleted meanwhile, maybe before its object was there.
      await blobs.stored?.remove(key);
      yield { ...nothing, outcome: 'unknown' };
    } else if (moved instanceof Error) throw moved;
    else yield { ...nothing, ...moved };
  }
}

/** Returns the error of a store that does not do it. */
async function moveFile(
  earlier: EarlierBlobs,
  key: string,
  sha256: string,
): Promise<Error | (Pick<MovedFile, 'outcome'> & Partial<MovedFile>)> {
  try {
    return { outcome: 'moved', ...(await earlier.move(key, sha256)) };
  } catch (error) {
    if (error instanceof BlobDamagedError) return { outcome: 'damaged', message: error.message };
    // Deleted, or moved by another call.
    const isGone = error instanceof BlobMissingError || (error as { code?: unknown }).code === 'ENOENT';
    if (isGone) return { outcome: 'unknown' };
    if (error instanceof BlobStoreError) return error;
    throw error;
  }
}
