/**
 * Proves a base: reads it and the segments that it needs back, restores them into a scratch PostgreSQL in the
 * data folder, and checks every invariant of `skerryd verify` there.
 */
import { decryptArchive } from '../../../kernel/crypt/age.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import { readEntries } from '../../../store/dump/tar.ts';
import { placeBase } from '../../../store/embedded/place.ts';
import { inScratchFolder, requireInvariants, withScratchDatabase } from '../scratch.ts';
import { followSegments, listSegments, segmentId } from './names.ts';

interface ProveOptions {
  readonly archive: WalArchive;
  /** The base, and its first segment. */
  readonly id: string;
  readonly segment: string;
  /** Reads both. */
  readonly identity: string;
  readonly scratchFolder: string;
  readonly databaseBytes: number;
  readonly signal: AbortSignal;
}

export async function proveBase(options: ProveOptions): Promise<void> {
  const { scratchFolder: parent, databaseBytes: neededBytes, signal } = options;
  await inScratchFolder({ kind: 'base', parent, neededBytes }, async (dataDir) => {
    await placeIn(dataDir, options);
    await withScratchDatabase({ dataDir, replay: { until: null } }, signal, requireInvariants);
  });
}

async function placeIn(
  dataDir: string,
  { archive, id, segment, identity, signal }: ProveOptions,
): Promise<void> {
  const read = (content: AsyncIterable<Uint8Array>) =>
    decryptArchive(untilAborted(content, signal), [identity]);
  const placed = await placeBase(dataDir, readEntries(read(archive.bases.read(id))), () => undefined);
  const last = placed.end.segment;
  const { run } = followSegments(await listSegments(archive), segment, last);
  if (!run.includes(last)) throw new OperatorError('the archive lacks a segment that the base needs');
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
