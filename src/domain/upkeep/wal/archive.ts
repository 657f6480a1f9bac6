/**
 * Archives the write-ahead log: stores what is in the spool, encrypted, and a new base once a day or when the
 * chain of segments has a gap. One process at a time does it. Each step may run twice: a segment that was
 * stored is stored again under the same name.
 */
import { encryptArchive } from '../../../kernel/crypt/age.ts';
import { readVersion } from '../../../kernel/settings/version.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import type { WalSpool } from '../../../store/embedded/archiving.ts';
import { startBase } from '../../../store/embedded/base.ts';
import { MAJOR_VERSION } from '../../../store/embedded/binaries.ts';
import { readDatabaseBytes } from '../../../store/service/backups.ts';
import { readClusterId } from '../../../store/service/service.ts';
import type { Service } from '../../context.ts';
import { runExclusively } from '../exclusive.ts';
import { baseId, parseBaseId, segmentId } from './names.ts';
import { BASE_EVERY_MS, SPOOL_MAX, type WalPlan } from './plan.ts';

type Deps = Pick<Service, 'db' | 'log'>;

const LEASE = { name: 'archive the log', everyS: 0 } as const;
/** The size of a segment before compression. */
const SEGMENT_BYTES = 16 * 1024 ** 2;

export async function archiveLog(service: Deps, plan: WalPlan, signal: AbortSignal): Promise<void> {
  await runExclusively(service, LEASE, async () => {
    const spool = await plan.openSpool();
    if (spool === null) return;
    const archive = plan.open(await readClusterId(service.db));
    await storeSegments(service, { spool, archive, plan, signal });
    if (!(await isBaseDue(spool, archive))) return;
    await storeBase(service, { spool, archive, plan, signal });
    await deleteOld(archive, plan);
  });
}

interface Run {
  readonly spool: WalSpool;
  readonly archive: WalArchive;
  readonly plan: WalPlan;
  readonly signal: AbortSignal;
}

async function storeSegments(
  { log }: Pick<Deps, 'log'>,
  { spool, archive, plan, signal }: Run,
): Promise<void> {
  const segments = await spool.list();
  if (segments.length > SPOOL_MAX) {
    await spool.drop();
    log.error(
      { segments: segments.length },
      'too many segments of the write-ahead log waited for their store and were dropped; a new base follows',
    );
    return;
  }
  for (const segment of segments) {
    signal.throwIfAborted();
    const content = encryptArchive(oneChunk(await spool.read(segment)), plan.recipients);
    await archive.segments.write(segmentId(segment), content, SEGMENT_BYTES);
    await spool.remove(segment);
  }
}

async function isBaseDue(spool: WalSpool, { bases }: WalArchive): Promise<boolean> {
  if (!(await spool.isWhole())) return true;
  const newest = Math.max(0, ...(await bases.list()).map((id) => parseBaseId(id).startedAt.getTime()));
  return Date.now() - newest >= BASE_EVERY_MS;
}

async function storeBase({ db, log }: Deps, { spool, archive, plan, signal }: Run): Promise<void> {
  const header = { release: readVersion(), postgres: MAJOR_VERSION };
  const base = await startBase(plan.source, { dataDir: plan.dataDir, header, signal });
  const content = encryptArchive(base.content, plan.recipients);
  const info = await archive.bases.write(baseId(base), content, await readDatabaseBytes(db));
  // Without its own segments a base is worth nothing.
  await storeSegments({ log }, { spool, archive, plan, signal });
  await spool.begin();
  log.info({ name: info.name, bytes: info.sizeBytes }, 'a base for point-in-time recovery was stored');
}

/** The newest base that is older than the period stays, for a restore to reach all of the period. */
async function deleteOld({ bases, segments }: WalArchive, { days }: WalPlan): Promise<void> {
  const before = Date.now() - days * DAY_MS;
  const all = (await bases.list()).map((id) => ({ id, ...parseBaseId(id) }));
  all.sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  const first = all.findLast(({ startedAt }) => startedAt.getTime() < before) ?? all[0];
  if (first === undefined) return;
  for (const { id, startedAt } of all) if (startedAt < first.startedAt) await bases.remove(id);
  const firstSegment = segmentId(first.segment);
  for (const id of await segments.list()) if (id < firstSegment) await segments.remove(id);
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
