/** When, where to, and for whom the database is backed up. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/time.ts';
import type { ArchiveStore } from '../../../ports/archives.ts';
import type { DumpSource } from '../../../store/dump/dump.ts';
import type { BackupRow } from '../../../store/service/backups.ts';
import type { WalPlan } from '../wal/plan.ts';

/** Absent if no recipients are set: no one could read a backup. */
export interface BackupPlan {
  readonly source: DumpSource;
  readonly recipients: readonly string[];
  /** Where scheduled backups go; null: none are scheduled. */
  readonly target: ArchiveStore | null;
  readonly everyHours: number;
  /** Minutes after midnight UTC. */
  readonly atMinutes: number;
  readonly keepDays: number;
  readonly dataDir: string;
  /** Where a backup is restored to verify it; null: it is only read back. */
  readonly scratchFolder: string | null;
  /** Opens a folder for a backup that is not scheduled. */
  readonly openFolder: (folder: string) => ArchiveStore;
  /** Null without a store of files. */
  readonly store: ArchiveStore | null;
  /** Absent unless the embedded database archives its write-ahead log. */
  readonly wal?: WalPlan;
}

export const NO_STORE = 'SKERRY_S3_URL is not set: there is no store';
/** A backup is proved once a day; without a proof for two days, something is wrong. */
export const PROVED_WITHIN_MS = 48 * HOUR_MS;
/** Between a failed attempt and the next one. */
export const RETRY_MS = 30 * MINUTE_MS;
/** So many of the newest files stay, however old they look to a clock that is ahead. */
export const NEWEST_KEPT = 7;

/**
 * The latest time of a backup that counts. A clock that was ahead for a while leaves later ones, which say
 * nothing about how old the newest is.
 */
export function latestTime(now: Date): Date {
  return new Date(now.getTime() + HOUR_MS);
}

/** Returns the latest time of the schedule that has come. */
export function lastSlot(
  { everyHours, atMinutes }: Pick<BackupPlan, 'everyHours' | 'atMinutes'>,
  now: Date,
): Date {
  const everyMs = everyHours * HOUR_MS;
  const atMs = atMinutes * MINUTE_MS;
  return new Date(Math.floor((now.getTime() - atMs) / everyMs) * everyMs + atMs);
}

/**
 * Whether a backup is due. `last`: the latest attempt. A written but unproved backup is not repeated
 * before its next time: each attempt leaves a whole archive.
 */
export function isDue(
  plan: Pick<BackupPlan, 'everyHours' | 'atMinutes'>,
  last: Pick<BackupRow, 'name' | 'started_at' | 'ended_at' | 'failure'> | undefined,
  now: Date,
): boolean {
  if (last === undefined || last.started_at < lastSlot(plan, now)) return true;
  const isMissing = last.failure !== null && last.name === null;
  return isMissing && now.getTime() - last.ended_at.getTime() >= RETRY_MS;
}

/** Whether the first backup of the day is due for a proof. `last`: when the last proved one began. */
export function isProofDue(
  { atMinutes }: Pick<BackupPlan, 'atMinutes'>,
  last: Date | undefined,
  now: Date,
): boolean {
  return last === undefined || last < lastSlot({ everyHours: DAY_MS / HOUR_MS, atMinutes }, now);
}
