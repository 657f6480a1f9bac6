/**
 * Stores a base once a day, or when the chain of segments has a gap, and restores it into a scratch database
 * with the segments that it needs. Segments are stored meanwhile.
 */
import { createIdentity, encryptArchive } from '../../../kernel/crypt/age.ts';
import { readVersion } from '../../../kernel/settings/version.ts';
import { startBase } from '../../../store/embedded/base.ts';
import { MAJOR_VERSION } from '../../../store/embedded/binaries.ts';
import { readDatabaseBytes } from '../../../store/service/backups.ts';
import { findServiceRow } from '../../../store/service/service.ts';
import type { Service } from '../../context.ts';
import { latestTime } from '../backups/plan.ts';
import { describeFailure } from '../scratch.ts';
import { findNewestBase } from './expire.ts';
import { baseId } from './names.ts';
import { BASE_EVERY_MS, type WalPlan } from './plan.ts';
import { proveBase } from './prove.ts';
import { requireBases, type SegmentRun, STORE_EVERY_MS, storeSegments, whileStoring } from './segments.ts';

type Deps = Pick<Service, 'db' | 'log'>;

export interface BaseRun extends SegmentRun {
  readonly plan: Pick<WalPlan, 'recipients' | 'source' | 'dataDir' | 'scratchFolder'>;
}

/** Looks into the archive only where the spool does not know: this is asked every few seconds. */
export async function isBaseDue({ spool, archive }: BaseRun): Promise<boolean> {
  if (!(await spool.isWhole())) return true;
  const newest = await spool.newestBase();
  if (newest !== null && newest.archive !== null && newest.archive !== archive.name) return true;
  const startedAt =
    newest?.archive === archive.name ? newest.startedAt : findNewestBase(await archive.bases.list());
  if (startedAt === null || startedAt > latestTime(new Date())) return true;
  return Date.now() - startedAt.getTime() >= BASE_EVERY_MS;
}

export async function storeBase(deps: Deps, run: BaseRun): Promise<void> {
  const { plan, spool, signal } = run;
  await requireBases(spool, run.archive);
  if (plan.scratchFolder === null) {
    await writeBase(deps, run);
    return;
  }
  // Only this run can read what it stores, besides the recipients.
  const { identity, recipient } = await createIdentity({ like: plan.recipients });
  const readable = { ...run, plan: { ...plan, recipients: [...plan.recipients, recipient] } };
  const written = await writeBase(deps, readable);
  const { startedAt, name } = written;
  const proof = { ...written, archive: run.archive, identity, scratchFolder: plan.scratchFolder, signal };
  const failure = await whileStoring(deps, run, () => proveBase(proof)).then(() => null, describeFailure);
  signal.throwIfAborted();
  await spool.saveProof({ startedAt, failure });
  if (failure === null) deps.log.info({ name }, 'the base was restored to verify it');
  else deps.log.error({ name, failure }, 'the base could not be restored');
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
