/**
 * Restores the embedded database to a point in time, and leaves the service in recovery, as the restore of a
 * backup does: a base is placed in an empty data folder, and PostgreSQL replays the segments that follow.
 */
import { ArchiveError, decryptArchive, IdentityError } from '../../../kernel/crypt/age.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { formatRfc3339, MINUTE_MS } from '../../../kernel/time.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../../../store/db.ts';
import { readEntries } from '../../../store/dump/tar.ts';
import type { BaseHeader } from '../../../store/embedded/base.ts';
import { startEmbedded } from '../../../store/embedded/index.ts';
import { type Placed, placeBase } from '../../../store/embedded/place.ts';
import { readIncarnation, readReplayTime } from '../../../store/service/service.ts';
import { listAddressNumbers } from '../../../store/topups/marks.ts';
import {
  type IdentityOptions,
  openStoredIdentity,
  requireKeys,
  requireSameMode,
} from '../../database-identity.ts';
import { markRestored } from '../backups/restore.ts';
import { followSegments, listSegments, parseBaseId, segmentId, timelineOf } from './names.ts';

export interface RestoreToOptions {
  /** By cluster: a restored backup is another one. */
  readonly archives: readonly WalArchive[];
  /** Null: the last change in the archive. */
  readonly until: Date | null;
  /** Only bases that began before it are tried; null: all. */
  readonly baseBefore: Date | null;
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
  const { placed, segments, gap, startedAt } = await placeFiles(options);
  await placed.handOver();
  tell(`replaying ${segments} segments of the write-ahead log`);
  const { dataDir } = identity;
  const embedded = await startEmbedded({ dataDir, replay: { until } }).catch((error: unknown) => {
    throw explain(error, { until, gap, startedAt });
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

/**
 * Tries the newest base first. One is left out if it is damaged, if its writing ended after the wanted time,
 * or if a segment that it needs is missing or damaged: a disk lost just after a base takes them along.
 */
async function placeFiles(options: RestoreToOptions): Promise<PlacedFiles> {
  const { until, identities, identity, tell } = options;
  const bases = await listBases(options);
  for (const base of bases.filter(({ startedAt }) => until === null || startedAt <= until)) {
    const { archive, segment, startedAt, id } = base;
    const { run, missing } = followSegments(
      await listSegments(archive),
      segment,
      lastWanted(bases, base, until),
    );
    if (run.length === 0) continue;
    tell(`unpacking the base of ${formatRfc3339(startedAt)}`);
    const entries = readEntries(decryptArchive(archive.bases.read(id), identities));
    const checkKeys = ({ key_check: check }: BaseHeader) => {
      if (check !== undefined) requireKeys(identity, check);
    };
    const placed = await unlessDamaged(() => placeBase(identity.dataDir, entries, checkKeys));
    if (placed === null) {
      tell(`the base of ${formatRfc3339(startedAt)} is damaged`);
      continue;
    }
    const { end } = placed;
    if (!run.includes(end.segment) || (until !== null && new Date(end.ended_at) > until)) continue;
    const damaged = await placeSegments(placed, run, { archive, identities });
    const segments = damaged === null ? run.length : run.indexOf(damaged);
    if (segments <= run.indexOf(end.segment)) {
      tell(`segment ${damaged} is damaged, and this base needs it`);
      continue;
    }
    const newest = await findNewestTimeline(archive);
    for (let taken = timelineOf(segment) + 1; taken <= newest; taken += 1)
      await placed.reserveTimeline(taken);
    const gap = describeGap(damaged, missing);
    if (gap !== null) tell(`${gap}: the log after it cannot be replayed`);
    return { placed, segments, gap, startedAt };
  }
  throw new OperatorError('there is no whole base from before this time');
}

/** Places segments in order. Returns the first that is damaged, which ends the log; null if none is. */
async function placeSegments(
  placed: Placed,
  run: readonly string[],
  { archive, identities }: { readonly archive: WalArchive; readonly identities: readonly string[] },
): Promise<string | null> {
  for (const each of run) {
    const content = decryptArchive(archive.segments.read(segmentId(each)), identities);
    const isWhole = await unlessDamaged(() => placed.addSegment(each, content).then(() => true));
    if (isWhole === null) return each;
  }
  return null;
}

/** Returns null if the archive is damaged. A wrong identity or a full disk is the same for the next one. */
async function unlessDamaged<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ArchiveError && !(error instanceof IdentityError)) return null;
    throw error;
  }
}

function describeGap(damaged: string | null, missing: string | null): string | null {
  if (damaged !== null) return `segment ${damaged} is damaged`;
  return missing === null ? null : `segment ${missing} is missing`;
}

interface PlacedFiles {
  readonly placed: Placed;
  readonly segments: number;
  /** Why the log ends before the last segment of the archive. */
  readonly gap: string | null;
  /** When the base began. */
  readonly startedAt: Date;
}

interface Candidate {
  readonly id: string;
  readonly segment: string;
  readonly startedAt: Date;
  readonly archive: WalArchive;
}

/** Newest first. */
async function listBases({ archives, baseBefore }: RestoreToOptions): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const archive of archives)
    for (const id of await archive.bases.list()) found.push({ id, archive, ...parseBaseId(id) });
  const tried = found.filter(({ startedAt }) => baseBefore === null || startedAt < baseBefore);
  return tried.sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
}

/** PostgreSQL only knows that it has reached the wanted time when it reads a change from after it. */
const LATER_MS = 10 * MINUTE_MS;

/** No segment after the first one of a base that began well after the wanted time is needed. */
function lastWanted(bases: readonly Candidate[], base: Candidate, until: Date | null): string | null {
  if (until === null) return null;
  const later = bases.filter(
    ({ archive, segment, startedAt }) =>
      archive === base.archive &&
      timelineOf(segment) === timelineOf(base.segment) &&
      startedAt.getTime() > until.getTime() + LATER_MS,
  );
  return later.at(-1)?.segment ?? null;
}

async function findNewestTimeline(archive: WalArchive): Promise<number> {
  const bases = (await archive.bases.list()).map((id) => parseBaseId(id).segment);
  return Math.max(...[...bases, ...(await listSegments(archive))].map(timelineOf));
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

function explain(
  error: unknown,
  { until, gap, startedAt }: Pick<PlacedFiles, 'gap' | 'startedAt'> & Pick<RestoreToOptions, 'until'>,
): unknown {
  if (!(error instanceof Error)) return error;
  if (!/recovery target was reached/.test(error.message)) {
    const base = formatRfc3339(startedAt);
    return new OperatorError(
      `the base of ${base} could not be replayed: ${error.message}; ` +
        `to try an earlier one, add --base-before ${base}`,
    );
  }
  const reason = gap === null ? '' : `${gap}, so `;
  return new OperatorError(
    `${reason}the archive ends before ${until === null ? 'this time' : formatRfc3339(until)}: ` +
      'choose an earlier time, or latest',
  );
}
