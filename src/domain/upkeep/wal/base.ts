/**
 * Stores a base once a day, when the chain of segments has a gap, or when the newest one was not restored to
 * verify it. Segments are stored meanwhile.
 */
import { createIdentity, encryptArchive } from '../../../kernel/crypt/age.ts';
import { readVersion } from '../../../kernel/settings/version.ts';
import { startBase } from '../../../store/embedded/base.ts';
import { MAJOR_VERSION } from '../../../store/embedded/binaries.ts';
import { readDatabaseBytes } from '../../../store/service/backups.ts';
import { findServiceRow } from '../../../store/service/service.ts';
import type { Service } from '../../context.ts';
import { latestTime } from '../backups/plan.ts';
import { findNewestBase } from './expire.ts';
import { baseId } from './names.ts';
import { BASE_EVERY_MS, UNPROVED_EVERY_MS, type WalPlan } from './plan.ts';
import { requireBases, type SegmentRun, STORE_EVERY_MS, storeSegments } from './segments.ts';

type Deps = Pick<Service, 'db' | 'log'>;

export interface BaseRun extends SegmentRun {
  readonly plan: Pick<WalPlan, 'recipients' | 'source' | 'dataDir' | 'scratchFolder'>;
}

export interface StoredBase {
  readonly id: string;
  readonly segment: string;
  readonly startedAt: Date;
  /** Of its file or object. */
  readonly name: string;
  readonly databaseBytes: number;
  /** Reads it and its segments. Only this process has it. */
  readonly identity: string;
}

/**
 * Looks into the archive only where the spool does not know: this is asked every few seconds. `isProving`:
 * the newest base waits to be restored.
 */
export async function isBaseDue({ spool, archive, plan }: BaseRun, isProving: boolean): Promise<boolean> {
  if (!(await spool.isWhole())) return true;
  const newest = await spool.newestBase();
  if (newest !== null && newest.archive !== null && newest.archive !== archive.name) return true;
  const startedAt =
    newest?.archive === archive.name ? newest.startedAt : findNewestBase(await archive.bases.list());
  if (startedAt === null || startedAt > latestTime(new Date())) return true;
  const ageMs = Date.now() - startedAt.getTime();
  if (ageMs >= BASE_EVERY_MS) return true;
  if (plan.scratchFolder === null || isProving || ageMs < UNPROVED_EVERY_MS) return false;
  const proof = await spool.readProof();
  return proof === null || !proof.isProved || proof.since < startedAt;
}

/** Stores a base that its recipients can read, and this process. */
export async function storeBase(deps: Deps, run: BaseRun): Promise<StoredBase> {
  const { plan, spool, archive } = run;
  await requireBases(spool, archive);
  const { identity, recipient } = await createIdentity({ like: plan.recipients });
  const recipients = plan.scratchFolder === null ? plan.recipients : [...plan.recipients, recipient];
  const base = await writeBase(deps, { ...run, plan: { ...plan, recipients } });
  if (plan.scratchFolder !== null && (await spool.readProof()) === null)
    await spool.saveProof({ since: base.startedAt, isProved: false, failed: null });
  return { ...base, identity };
}

async function writeBase({ db, log }: Deps, run: BaseRun) {
  const { spool, archive, plan, signal } = run;
  const databaseBytes = await readDatabaseBytes(db);
  const keyCheck = (await findServiceRow(db))?.key_check;
  const header = {
    ...{ release: readVersion(), postgres: MAJOR_VERSION, database_bytes: databaseBytes },
    ...(keyCheck === undefined ? {} : { key_check: keyCheck }),
  };
  const store = async () => {
    if (!(await storeSegments({ log }, run))) throw new Error('a base lost the segments that it needs');
  };
  const { segment, startedAt, content, close } = await startBase(plan.source, {
    ...{ dataDir: plan.dataDir, header, signal },
  });
  const id = baseId({ segment, startedAt });
  const archived = encryptArchive(withPauses(content, store), plan.recipients);
  const { name, sizeBytes } = await archive.bases.write(id, archived, databaseBytes).finally(close);
  // Without its own segments a base is worth nothing.
  await store();
  await spool.begin({ startedAt, archive: archive.name });
  log.info({ name, bytes: sizeBytes }, 'a base for point-in-time recovery was stored');
  return { id, segment, startedAt, name, databaseBytes };
}

/** Writing a base may take hours. */
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
