/**
 * Proves a base: reads it and the segments that it needs back, restores them into a scratch PostgreSQL in the
 * data folder, and checks every invariant of `skerryd verify` there. A failure is repeated before it counts:
 * a store may be away for a while.
 */
import { decryptArchive } from '../../../kernel/crypt/age.ts';
import { freeBytes } from '../../../kernel/files.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { GIB_BYTES } from '../../../kernel/sizes.ts';
import { readEntries } from '../../../store/dump/tar.ts';
import { placeBase } from '../../../store/embedded/place.ts';
import type { Service } from '../../context.ts';
import { runAlone } from '../backups/perform.ts';
import { describeFailure, inScratchFolder, requireInvariants, withScratchDatabase } from '../scratch.ts';
import type { BaseRun, StoredBase } from './base.ts';
import { followSegments, listSegments, segmentId } from './names.ts';
import { PROOF_ATTEMPTS, PROOF_RETRY_MS } from './plan.ts';
import { SEGMENT_BYTES, whileStoring } from './segments.ts';

/** The base that waits to be proved. */
export class BaseProof {
  #base: StoredBase | null = null;
  #attempts = 0;
  #notBeforeMs = 0;

  get isWaiting(): boolean {
    return this.#base !== null;
  }

  begin(base: StoredBase): void {
    this.#base = base;
    this.#attempts = 0;
    this.#notBeforeMs = 0;
  }

  /** Does nothing while a backup is made, or before the next attempt. */
  async run(service: Pick<Service, 'db' | 'log'>, run: BaseRun): Promise<void> {
    const base = this.#base;
    if (base === null || performance.now() < this.#notBeforeMs) return;
    this.#notBeforeMs = performance.now() + PROOF_RETRY_MS;
    await runAlone(service, async () => {
      this.#attempts += 1;
      const failure = await whileStoring(service, run, () => proveBase(base, run)).then(
        () => null,
        describeFailure,
      );
      if (failure !== null) run.signal.throwIfAborted();
      const isLast = this.#attempts >= PROOF_ATTEMPTS;
      const fields = { name: base.name, ...(failure === null ? {} : { failure }) };
      if (failure === null) service.log.info(fields, 'the base was restored to verify it');
      else if (!isLast) service.log.warn(fields, 'the base could not be restored; it is tried again');
      else service.log.error(fields, 'the base could not be restored');
      if (failure !== null && !isLast) return;
      await saveOutcome(run, base, failure);
      this.#base = null;
    });
  }
}

async function saveOutcome(
  { spool }: BaseRun,
  { startedAt }: StoredBase,
  failure: string | null,
): Promise<void> {
  if (failure === null) {
    await spool.saveProof({ since: startedAt, isProved: true, failed: null });
    return;
  }
  const known = (await spool.readProof()) ?? { since: startedAt, isProved: false };
  await spool.saveProof({ ...known, failed: { startedAt, reason: failure } });
}

async function proveBase(base: StoredBase, { archive, plan, signal }: BaseRun): Promise<void> {
  const parent = plan.scratchFolder ?? plan.dataDir;
  await inScratchFolder({ kind: 'base', parent, neededBytes: base.databaseBytes }, async (dataDir) => {
    await placeIn(dataDir, base, { archive, signal });
    await withScratchDatabase({ dataDir, replay: { until: null } }, signal, requireInvariants);
  });
}

async function placeIn(
  dataDir: string,
  { id, segment, identity }: StoredBase,
  { archive, signal }: Pick<BaseRun, 'archive' | 'signal'>,
): Promise<void> {
  const read = (content: AsyncIterable<Uint8Array>) =>
    decryptArchive(untilAborted(content, signal), [identity]);
  const placed = await placeBase(dataDir, readEntries(read(archive.bases.read(id))), () => undefined);
  const last = placed.end.segment;
  const { run } = followSegments(await listSegments(archive), segment, last);
  if (!run.includes(last)) throw new OperatorError('the archive lacks a segment that the base needs');
  // Each is placed, and copied by PostgreSQL.
  const neededBytes = 2 * run.length * SEGMENT_BYTES + GIB_BYTES;
  if ((await freeBytes(dataDir)) < neededBytes) {
    const gib = Math.ceil(neededBytes / GIB_BYTES);
    throw new OperatorError(`the base was not proved: ${dataDir} needs ${gib} GiB of free space for its log`);
  }
  for (const each of run) await placed.addSegment(each, read(archive.segments.read(segmentId(each))));
  await placed.handOver();
}

async function* untilAborted(
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    signal.throwIfAborted();
    yield chunk;
  }
}
