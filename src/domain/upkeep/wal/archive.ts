/**
 * Archives the write-ahead log: stores what is in the spool, encrypted, and a new base once a day or when the
 * chain of segments has a gap. One process at a time does it. Each step may run twice: a segment that was
 * stored is stored again under the same name.
 */
import { encryptArchive } from '../../../kernel/crypt/age.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { readVersion } from '../../../kernel/settings/version.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import type { WalSpool } from '../../../store/embedded/archiving.ts';
import { startBase } from '../../../store/embedded/base.ts';
import { MAJOR_VERSION } from '../../../store/embedded/binaries.ts';
import { readDatabaseBytes } from '../../../store/service/backups.ts';
import { findServiceRow, readClusterId } from '../../../store/service/service.ts';
import type { Service } from '../../context.ts';
import { runExclusively } from '../exclusive.ts';
import { deleteOld, findNewestBase } from './expire.ts';
import { baseId, segmentId } from './names.ts';
import { BASE_EVERY_MS, BASE_RETRY_MS, SPOOL_MAX, type WalPlan } from './plan.ts';

type Deps = Pick<Service, 'db' | 'log'>;

const LEASE = { name: 'archive the log', everyS: 0 } as const;
/** The size of a segment before compression. */
const SEGMENT_BYTES = 16 * 1024 ** 2;
/** A stop takes at most ten seconds. */
const LAST_ROUND_MS = 3_000;
/** How often segments are stored while a base is written. */
const STORE_EVERY_MS = 5_000;

/** Returns a function that does one round. It remembers that a base failed, and waits with the next one. */
export function openArchiving(service: Deps, plan: WalPlan): (signal: AbortSignal) => Promise<void> {
  let notBefore = Number.NEGATIVE_INFINITY;
  const archiveBase = async (run: Run) => {
    if (performance.now() < notBefore || !(await isBaseDue(run))) return;
    notBefore = performance.now() + BASE_RETRY_MS;
    await storeBase(service, run);
    await deleteOld(await plan.listArchives(), { current: run.archive, days: plan.days });
    notBefore = Number.NEGATIVE_INFINITY;
  };
  return async (signal) =>
    await runExclusively(service, LEASE, async () => {
      const spool = await plan.openSpool();
      if (spool === null) return;
      const run = { spool, archive: plan.open(await readClusterId(service.db)), plan, signal };
      await storeSegments(service, run);
      await archiveBase(run);
    });
}

/** Returns a function that stores what PostgreSQL archives while it stops. */
export async function openLastRound({ db, log }: Deps, plan: WalPlan): Promise<() => Promise<void>> {
  const archive = plan.open(await readClusterId(db));
  return async () => {
    const spool = await plan.openSpool();
    if (spool === null) return;
    await storeSegments({ log }, { spool, archive, plan, signal: AbortSignal.timeout(LAST_ROUND_MS) });
  };
}

interface Run {
  readonly spool: WalSpool;
  readonly archive: WalArchive;
  readonly plan: Pick<WalPlan, 'recipients' | 'source' | 'dataDir'>;
  readonly signal: AbortSignal;
}

/** Resolves to false if it dropped the segments: the chain has a gap. */
export async function storeSegments(
  { log }: Pick<Deps, 'log'>,
  { spool, archive, plan, signal }: Omit<Run, 'plan'> & { readonly plan: Pick<WalPlan, 'recipients'> },
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

/** The folder of a disk that is not mounted is empty, and on the disk of the database. */
async function requireBases(spool: WalSpool, { name, bases }: WalArchive): Promise<void> {
  const newest = await spool.newestBase();
  if (newest?.archive !== name || (await bases.list()).length > 0) return;
  throw new OperatorError(
    `${bases.label} has none of the bases of this database: mount its disk, or, if they are lost, ` +
      `delete ${spool.baseFile}`,
  );
}

async function isBaseDue({ spool, archive }: Run): Promise<boolean> {
  await requireBases(spool, archive);
  if (!(await spool.isWhole())) return true;
  const newest = findNewestBase(await archive.bases.list());
  return newest === null || Date.now() - newest.getTime() >= BASE_EVERY_MS;
}

async function storeBase({ db, log }: Deps, run: Run): Promise<void> {
  const { spool, archive, plan, signal } = run;
  const databaseBytes = await readDatabaseBytes(db);
  const keyCheck = (await findServiceRow(db))?.key_check;
  const header = {
    ...{ release: readVersion(), postgres: MAJOR_VERSION, database_bytes: databaseBytes },
    ...(keyCheck === undefined ? {} : { key_check: keyCheck }),
  };
  const base = await startBase(plan.source, { dataDir: plan.dataDir, header, signal });
  const store = async () => {
    if (!(await storeSegments({ log }, run))) throw new Error('a base lost the segments that it needs');
  };
  const content = encryptArchive(withPauses(base.content, store), plan.recipients);
  const info = await archive.bases.write(baseId(base), content, databaseBytes).finally(base.close);
  // Without its own segments a base is worth nothing.
  await store();
  await spool.begin({ startedAt: base.startedAt, archive: archive.name });
  log.info({ name: info.name, bytes: info.sizeBytes }, 'a base for point-in-time recovery was stored');
}

/** Writing a base may take hours, and a loss of the disk should still lose no more than a minute. */
async function* withPauses(
  content: AsyncIterable<Uint8Array>,
  work: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let next = performance.now() + STORE_EVERY_MS;
  for await (const chunk of content) {
    if (performance.now() >= next) {
      await work();
      next = performance.now() + STORE_EVERY_MS;
    }
    yield chunk;
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
