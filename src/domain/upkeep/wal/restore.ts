/**
 * Restores the embedded database to a point in time, and leaves the service in recovery, as the restore of a
 * backup does: a base is placed in an empty data folder, and PostgreSQL replays the segments that follow.
 */
import { decryptArchive } from '../../../kernel/crypt/age.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../../../store/db.ts';
import { readEntries } from '../../../store/dump/tar.ts';
import { startEmbedded } from '../../../store/embedded/index.ts';
import { type Placed, placeBase } from '../../../store/embedded/replay.ts';
import { readIncarnation, readReplayTime } from '../../../store/service/service.ts';
import { listAddressNumbers } from '../../../store/topups/marks.ts';
import { type IdentityOptions, openStoredIdentity, requireSameMode } from '../../database-identity.ts';
import { markRestored } from '../backups/restore.ts';
import { parseBaseId, parseSegmentId, segmentId } from './names.ts';

export interface RestoreToOptions {
  /** By cluster; a restored database continues as another one. */
  readonly archives: readonly WalArchive[];
  /** Null: the last change in the archive. */
  readonly until: Date | null;
  readonly identities: readonly string[];
  readonly identity: IdentityOptions;
  /** Gets a line for each step. */
  readonly tell: (line: string) => void;
}

export interface RestoredTo {
  /** The last change, on the clock of the database; null if there was none after the base. */
  readonly at: Date | null;
  readonly segments: number;
  readonly withMarks: boolean;
}

export async function restoreTo(options: RestoreToOptions): Promise<RestoredTo> {
  const { until, identity, tell } = options;
  const { placed, segments } = await placeFiles(options);
  await placed.handOver();
  tell(`replaying ${segments} segments of the write-ahead log`);
  const { dataDir } = identity;
  const embedded = await startEmbedded({ dataDir, replay: { until } }).catch((error: unknown) => {
    throw explain(error, until);
  });
  try {
    const marked = await mark(embedded.connection, options);
    await embedded.stop();
    await placed.complete();
    return { segments, ...marked };
  } finally {
    await embedded.stop();
  }
}

/** Tries the newest base first: the writing of one may have ended after the wanted time. */
async function placeFiles(options: RestoreToOptions): Promise<{ placed: Placed; segments: number }> {
  const { until, identities, identity, tell } = options;
  const bases = await listBases(options);
  for (const { id, startedAt, segment, archive } of bases) {
    const segments = await listSegments(archive, segment);
    // A disk that is lost just after a base takes the segments along.
    if (segments[0] !== segmentId(segment)) continue;
    tell(`unpacking the base of ${formatRfc3339(startedAt)}`);
    const entries = readEntries(decryptArchive(archive.bases.read(id), identities));
    const placed = await placeBase(identity.dataDir, entries);
    if (until !== null && new Date(placed.end.ended_at) > until) continue;
    for (const each of segments)
      await placed.addSegment(parseSegmentId(each), decryptArchive(archive.segments.read(each), identities));
    return { placed, segments: segments.length };
  }
  throw new OperatorError('there is no whole base from before this time');
}

interface Candidate {
  readonly id: string;
  readonly segment: string;
  readonly startedAt: Date;
  readonly archive: WalArchive;
}

/** Returns those that began before the wanted time, newest first. */
async function listBases({ archives, until }: RestoreToOptions): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const archive of archives)
    for (const id of await archive.bases.list()) found.push({ id, archive, ...parseBaseId(id) });
  return found
    .filter(({ startedAt }) => until === null || startedAt <= until)
    .sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
}

/** Returns the segments of a base and its timeline, oldest first. */
async function listSegments({ segments }: WalArchive, first: string): Promise<string[]> {
  const timeline = first.slice(0, 8);
  const ids = (await segments.list()).filter(
    (id) => id >= segmentId(first) && parseSegmentId(id).startsWith(timeline),
  );
  return ids.sort();
}

async function mark(
  connection: ConnectionSettings,
  { identity, until }: RestoreToOptions,
): Promise<Pick<RestoredTo, 'at' | 'withMarks'>> {
  const db = openDatabase(connection, { poolSize: 1, statementTimeoutMs: 0 });
  try {
    await requireSameMode(db, identity.mode);
    const at = await readReplayTime(db);
    return { at, withMarks: await markNow(db, identity, until ?? at ?? new Date()) };
  } finally {
    await db.close();
  }
}

/** Puts a database that PostgreSQL restored into recovery. `asOf` is on the clock of the database. */
export async function markNow(db: OpenDatabase, identity: IdentityOptions, asOf: Date): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const { clockOffsetMs } = await openStoredIdentity(tx, identity);
    const database = await readIncarnation(tx);
    const numbers = await listAddressNumbers(tx);
    const takenAt = new Date(asOf.getTime() + clockOffsetMs);
    return await markRestored(tx, { identity, database, takenAt, numbers });
  });
}

function explain(error: unknown, until: Date | null): unknown {
  if (!(error instanceof Error && /recovery target was reached/.test(error.message))) return error;
  return new OperatorError(
    `the archive ends before ${until === null ? 'this time' : formatRfc3339(until)}: ` +
      'choose an earlier time, or latest',
  );
}
