/**
 * One backup from its first row to its record: written, read back, restored into a scratch database, checked,
 * and recorded. Then old ones are deleted, but never the newest that was proved. There is one at a time, over
 * all processes. A killed run leaves no record and is repeated; what it wrote goes with the next one.
 */
import { dirname } from 'node:path';
import { createIdentity } from '../../../kernel/crypt/age.ts';
import { idTimestamp, newId } from '../../../kernel/ids.ts';
import { describeError } from '../../../kernel/logger.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import type { ArchiveStore } from '../../../ports/archives.ts';
import {
  type BackupRow,
  deleteBackups,
  findNewestBackup,
  findVerifiedBackup,
  findWrittenBackup,
  insertBackup,
  saveScheduleTime,
} from '../../../store/service/backups.ts';
import { isTimeInDoubt } from '../../billing/leap.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { runExclusively } from '../exclusive.ts';
import { describeFailure } from '../scratch.ts';
import { type BackupPlan, isDue, isProofDue, latestTime, NEWEST_KEPT } from './plan.ts';
import { proveBackup } from './prove.ts';
import { writeBackup } from './write.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'settings' | 'log'>;

/** `isDue` spaces the runs, so the lease ends with its run. */
const LEASE = { name: 'back up', everyS: 0 } as const;

/** Does nothing while another process works on a backup of this database. */
export async function runAlone(
  service: Pick<Service, 'db' | 'log'>,
  work: () => Promise<void>,
): Promise<void> {
  await runExclusively(service, LEASE, work);
}

export interface PerformOptions {
  readonly plan: BackupPlan;
  readonly target: ArchiveStore;
  /** Whether to restore it into a scratch database. */
  readonly prove: boolean;
  /** Whether a place that has lost all earlier backups is refused. */
  readonly needsEarlier?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the row to record, with the failure if there is one. Throws if it was aborted. */
export async function performBackup(service: Deps, options: PerformOptions): Promise<BackupRow> {
  const { plan, target, prove, needsEarlier, signal } = options;
  const { clock } = service;
  const startedAt = clock.now();
  const row = { id: newId(startedAt), name: null, size_bytes: null, sha256: null, started_at: startedAt };
  const failed = (error: unknown, written: Partial<BackupRow> = {}): BackupRow => {
    signal?.throwIfAborted();
    const failure = describeFailure(error);
    return { ...row, ...written, ended_at: clock.now(), verified_at: null, failure };
  };
  // Only this run can read the archive, besides its recipients.
  const { identity, recipient } = await createIdentity({ like: plan.recipients });
  const recipients = prove ? [...plan.recipients, recipient] : plan.recipients;
  let written: Pick<BackupRow, 'id' | 'name' | 'size_bytes' | 'sha256'>;
  try {
    if (needsEarlier) await requireEarlier(service, target);
    const { id, name, sizeBytes, sha256 } = await writeBackup(service, {
      source: plan.source,
      ...{ target, recipients, signal },
    });
    written = { id, name, size_bytes: BigInt(sizeBytes), sha256 };
  } catch (error) {
    return failed(error);
  }
  try {
    if (prove) {
      const { scratchFolder } = plan;
      await proveBackup(service, { target, written, identity, scratchFolder, signal });
    }
  } catch (error) {
    return failed(error, written);
  }
  const endedAt = clock.now();
  const verifiedAt = prove ? endedAt : null;
  return { ...row, ...written, ended_at: endedAt, verified_at: verifiedAt, failure: null };
}

/** The folder of a disk that is not mounted is empty, and on the disk of the database. */
async function requireEarlier({ db }: Deps, target: ArchiveStore): Promise<void> {
  const last = await findWrittenBackup(db);
  if (!last?.name || dirname(last.name) !== target.label) return;
  // A folder that cannot be read fails by name when it is written.
  const found = await target.list().catch(() => null);
  if (found === null || found.length > 0) return;
  throw new OperatorError(
    `${target.label} has none of the earlier backups: mount its disk, or, if it should be empty, ` +
      'run skerryd backup create',
  );
}

/** Whether a scheduled backup is due. */
export async function isBackupDue({ db, clock }: Deps, plan: BackupPlan): Promise<boolean> {
  if (plan.target === null) return false;
  const now = clock.now();
  return isDue(plan, await findNewestBackup(db, latestTime(now)), now);
}

/** Makes the backup that is due, if it still is, records it, and deletes old ones. */
export async function backUpAsScheduled(
  service: Deps,
  plan: BackupPlan,
  signal?: AbortSignal,
): Promise<void> {
  const { target } = plan;
  if (target === null || !(await isBackupDue(service, plan))) return;
  const { db, clock } = service;
  const now = clock.now();
  await saveScheduleTime(db, now);
  const proved = await findVerifiedBackup(db, latestTime(now));
  const prove = isProofDue(plan, proved?.started_at, now);
  await recordBackup(service, { plan, target, prove, needsEarlier: true, signal });
}

/** Makes a backup at its configured place, records it, and deletes old ones. */
export async function recordBackup(service: Deps, options: PerformOptions): Promise<BackupRow> {
  const { db, log } = service;
  const row = await performBackup(service, options);
  await insertBackup(db, row);
  const { name, size_bytes: sizeBytes, failure } = row;
  if (failure === null) log.info({ name, bytes: Number(sizeBytes) }, 'the database was backed up');
  else log.error({ failure }, 'the backup of the database failed');
  await deleteOld(service, options.plan, options.target).catch((error: unknown) =>
    log.warn({ err: describeError(error) }, 'old backups could not be deleted'),
  );
  return row;
}

/** Someone made a copy of all data by hand. */
export async function auditBackup(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  { name, failure }: BackupRow,
): Promise<void> {
  const now = clock.now();
  const result = failure === null ? 'ok' : 'error';
  await recordAudit(db, { actor: systemActor(now), action: 'database.backup', resource: name, result }, now);
}

/** Goes by what is there, not by the records: a restored database has no record of the backups after it. */
async function deleteOld(service: Deps, plan: BackupPlan, target: ArchiveStore): Promise<void> {
  if (await isTimeInDoubt(service)) return;
  const { db, clock } = service;
  const now = clock.now();
  const before = new Date(now.getTime() - plan.keepDays * DAY_MS);
  const proved = (await findVerifiedBackup(db, latestTime(now)))?.id ?? null;
  const ids = (await target.list()).sort();
  for (const id of ids.slice(0, -NEWEST_KEPT))
    if (idTimestamp(id) < before && id !== proved) await target.remove(id);
  await target.tidy();
  await deleteBackups(db, { before, keep: proved });
}
