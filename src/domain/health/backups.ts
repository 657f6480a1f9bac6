/** Findings and figures about backups of the database, and about the recovery after a restore. */
import { formatSessionTime, HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import type { ProofState } from '../../store/embedded/archiving.ts';
import { findNewestBackup, findScheduleTime, findVerifiedBackup } from '../../store/service/backups.ts';
import { findRestoration } from '../../store/service/restoration.ts';
import type { BehindRow } from '../../store/topups/marks.ts';
import type { Service } from '../context.ts';
import { listRecovering } from '../topups/recovery.ts';
import { latestTime, PROVED_WITHIN_MS } from '../upkeep/backups/plan.ts';
import { BASE_MAX_MS, BROKEN_MAX_MS, WAITS_MAX_MS } from '../upkeep/wal/plan.ts';

interface Finding {
  readonly level: 'ok' | 'note' | 'fail';
  readonly subject: string;
  readonly message: string;
}

type Deps = Pick<Service, 'db' | 'clock' | 'settings' | 'backups'>;

export interface BackupState {
  /** Since the newest verified backup began, or else the first was due; null: none was yet. */
  readonly ageMs: number | null;
  /** Why the latest attempt failed. */
  readonly failure: string | null;
  readonly bytes: bigint | null;
  readonly verifiedFrom: Date | null;
}

/** Returns null if no backups are scheduled. */
export async function readBackupState({ db, clock, backups }: Deps): Promise<BackupState | null> {
  if (!backups?.target) return null;
  const until = latestTime(clock.now());
  const [newest, verified] = [await findNewestBackup(db, until), await findVerifiedBackup(db, until)];
  const since = verified?.started_at ?? (await findScheduleTime(db));
  return {
    ageMs: since === undefined ? null : Math.max(0, clock.now().getTime() - since.getTime()),
    failure: newest?.failure ?? null,
    bytes: verified?.size_bytes ?? null,
    verifiedFrom: verified?.started_at ?? null,
  };
}

export async function backupFindings(service: Deps): Promise<Finding[]> {
  const subject = 'backups';
  const state = await readBackupState(service);
  if (state === null) {
    const message = 'none are scheduled: set SKERRY_BACKUP_TO and SKERRY_BACKUP_RECIPIENTS';
    return service.settings.mode === 'live' ? [{ level: 'note', subject, message }] : [];
  }
  const { ageMs, failure, verifiedFrom } = state;
  const findings: Finding[] = [];
  if (failure !== null) findings.push({ level: 'fail', subject, message: `the last one failed: ${failure}` });
  const proved =
    verifiedFrom === null
      ? 'none was verified yet'
      : `the newest verified one is of ${formatTime(verifiedFrom)}`;
  if (ageMs === null) findings.push({ level: 'note', subject, message: 'none yet' });
  else if (ageMs > PROVED_WITHIN_MS) {
    const hours = PROVED_WITHIN_MS / HOUR_MS;
    findings.push({ level: 'fail', subject, message: `${proved}, more than ${hours} hours ago` });
  } else findings.push({ level: verifiedFrom === null ? 'note' : 'ok', subject, message: proved });
  return findings;
}

export interface WalState {
  /** How long the oldest segment has waited; null: PostgreSQL does not archive, although it should. */
  readonly waitingMs: number | null;
  /** Since the newest base began. Without any, since one was needed. */
  readonly baseMs: number;
  /** For how long no base has followed a gap; null: there is none. */
  readonly brokenMs: number | null;
  /** Whether bases can be restored; null: none was to be, or none is. */
  readonly proof: ProofState | null;
}

/** Returns null if the write-ahead log is not archived. Never looks at the archive, which may hang. */
export async function readWalState({ backups }: Pick<Service, 'backups'>): Promise<WalState | null> {
  const plan = backups?.wal;
  if (plan === undefined) return null;
  const spool = await plan.openSpool();
  const startedAt = (await spool?.newestBase())?.startedAt;
  // A later time is of a clock that was ahead.
  const newest = startedAt !== undefined && startedAt <= latestTime(new Date()) ? startedAt : null;
  const brokenMs = spool === null ? 0 : await spool.brokenMs();
  return {
    waitingMs: spool === null ? null : ((await spool.ageMs()) ?? 0),
    baseMs: newest === null ? (brokenMs ?? 0) : Math.max(0, Date.now() - newest.getTime()),
    brokenMs,
    proof: plan.scratchFolder === null ? null : ((await spool?.readProof()) ?? null),
  };
}

export async function walFindings(service: Pick<Service, 'backups'>): Promise<Finding[]> {
  const state = await readWalState(service);
  return state === null ? [] : [{ subject: 'point-in-time', ...describeWal(state) }];
}

function describeWal({ waitingMs, baseMs, brokenMs, proof }: WalState): Omit<Finding, 'subject'> {
  if (waitingMs === null)
    return { level: 'fail', message: 'PostgreSQL does not archive its log: restart the service' };
  if (waitingMs > WAITS_MAX_MS) {
    const minutes = Math.floor(waitingMs / MINUTE_MS);
    return {
      level: 'fail',
      message: `the write-ahead log has waited for its archive for ${minutes} minutes`,
    };
  }
  if (brokenMs !== null && brokenMs > BROKEN_MAX_MS) {
    const hours = Math.floor(brokenMs / HOUR_MS);
    return {
      level: 'fail',
      message: `no base for ${hours} hours, although one is needed: see the log of the service`,
    };
  }
  if (baseMs > BASE_MAX_MS)
    return { level: 'fail', message: `the newest base is ${Math.floor(baseMs / HOUR_MS)} hours old` };
  const unproved = describeUnproved(proof);
  if (unproved !== null) return { level: 'fail', message: unproved };
  if (brokenMs !== null) return { level: 'note', message: 'waits for a base' };
  const newest = proof?.isProved ? `; the newest verified base is of ${formatTime(proof.since)}` : '';
  return { level: 'ok', message: `the write-ahead log is archived${newest}` };
}

function describeUnproved(proof: ProofState | null): string | null {
  if (proof === null) return null;
  const { failed, since } = proof;
  if (failed !== null)
    return `the base of ${formatTime(failed.startedAt)} could not be restored: ${failed.reason}`;
  const ageMs = Date.now() - since.getTime();
  return ageMs > BASE_MAX_MS ? `no base was verified for ${Math.floor(ageMs / HOUR_MS)} hours` : null;
}

function formatTime(at: Date): string {
  return `${formatSessionTime(at)} UTC`;
}

export async function recoveryFindings(service: Pick<Service, 'db'>): Promise<Finding[]> {
  const restoration = await findRestoration(service.db);
  const messages = (await listRecovering(service)).map(describeBehind);
  if (restoration) messages.unshift(describeRestored(restoration.restored_from));
  return messages.map((message) => ({ level: 'fail', subject: 'recovery', message }));
}

function describeRestored(from: Date): string {
  const backup = `restored from the backup of ${formatSessionTime(from)} UTC`;
  return `${backup}, so every change is refused; run \`skerryd recover\``;
}

function describeBehind({ coin, next_index: index, marked_index: marked, ...row }: BehindRow): string {
  const missing = `${row.marked_given - row.given} of its addresses were given out after the backup`;
  const place = `${coin} is at index ${index}, its mark at ${marked}`;
  return `${place}: ${missing}; run \`skerryd recover\``;
}
