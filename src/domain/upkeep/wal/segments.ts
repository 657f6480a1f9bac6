/** Stores the segments of the spool, encrypted. A segment that was stored is stored again under its name. */
import { encryptArchive } from '../../../kernel/crypt/age.ts';
import { describeError } from '../../../kernel/logger.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { settlesWithin } from '../../../kernel/timeout.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import type { WalSpool } from '../../../store/embedded/archiving.ts';
import type { Service } from '../../context.ts';
import { segmentId } from './names.ts';
import { SPOOL_MAX, type WalPlan } from './plan.ts';

/** The size of a segment before compression. */
export const SEGMENT_BYTES = 16 * 1024 ** 2;
/** How often segments are stored while other work is under way. */
export const STORE_EVERY_MS = 5_000;

export interface SegmentRun {
  readonly spool: WalSpool;
  readonly archive: WalArchive;
  readonly plan: Pick<WalPlan, 'recipients'>;
  readonly signal: AbortSignal;
}

/** Resolves to false if it dropped the segments: the chain has a gap. */
export async function storeSegments(
  { log }: Pick<Service, 'log'>,
  { spool, archive, plan, signal }: SegmentRun,
): Promise<boolean> {
  const segments = await spool.list();
  if (segments.length > SPOOL_MAX) {
    await spool.drop();
    log.error(
      { segments: segments.length },
      'too many segments of the write-ahead log waited for their store and were dropped; a new base follows',
    );
    return false;
  }
  if (segments.length > 0) await requireBases(spool, archive);
  for (const segment of segments) {
    signal.throwIfAborted();
    const content = encryptArchive(oneChunk(await spool.read(segment)), plan.recipients);
    await archive.segments.write(segmentId(segment), content, SEGMENT_BYTES);
    await spool.remove(segment);
  }
  return true;
}

/** Runs `work`, and stores segments meanwhile: a loss of the disk should still lose no more than a minute. */
export async function whileStoring<T>(
  deps: Pick<Service, 'log'>,
  run: SegmentRun,
  work: () => Promise<T>,
): Promise<T> {
  const working = work();
  while (!(await settlesWithin(working, STORE_EVERY_MS)) && !run.signal.aborted) {
    // The next round repeats it.
    await storeSegments(deps, run).catch((error: unknown) =>
      deps.log.warn({ err: describeError(error) }, 'the write-ahead log could not be stored'),
    );
  }
  return await working;
}

/** The folder of a disk that is not mounted is empty, and on the disk of the database. */
export async function requireBases(spool: WalSpool, { name, bases }: WalArchive): Promise<void> {
  const newest = await spool.newestBase();
  if (newest?.archive !== name || (await bases.list()).length > 0) return;
  throw new OperatorError(
    `${bases.label} has none of the bases of this database: mount its disk or see what happened to the ` +
      `store, or, if they are lost, delete ${spool.baseFile}`,
  );
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
