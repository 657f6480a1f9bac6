/** When, where to, and for whom the database is backed up. */
import { HOUR_MS, MINUTE_MS } from '../../../kernel/time.ts';
import type { ArchiveStore } from '../../../ports/archives.ts';
import type { DumpSource } from '../../../store/dump/dump.ts';

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
  /** Where a backup is restored to verify it; null: it is only read back. */
  readonly scratchFolder: string | null;
  /** Opens a folder for a backup that is not scheduled. */
  readonly openFolder: (folder: string) => ArchiveStore;
  /** Null without a store of files. */
  readonly store: ArchiveStore | null;
}

/** A backup is proved once a day; without a proof for two days, something is wrong. */
export const PROVED_WITHIN_MS = 48 * HOUR_MS;
/** A backup is proved if the last proof is older than this: a little less than a day. */
export const PROVE_AFTER_MS = 23 * HOUR_MS;
/** Between a failed attempt and the next one. */
export const RETRY_MS = 30 * MINUTE_MS;

/** Returns the latest time of the schedule that has come. */
export function lastSlot({ everyHours, atMinutes }: BackupPlan, now: Date): Date {
  const everyMs = everyHours * HOUR_MS;
  const atMs = atMinutes * MINUTE_MS;
  return new Date(Math.floor((now.getTime() - atMs) / everyMs) * everyMs + atMs);
}

/** Whether a backup is due. `last`: the latest attempt. */
export function isDue(
  plan: BackupPlan,
  last: { readonly started_at: Date; readonly ended_at: Date; readonly failure: string | null } | undefined,
  now: Date,
): boolean {
  if (last === undefined || last.started_at < lastSlot(plan, now)) return true;
  return last.failure !== null && now.getTime() - last.ended_at.getTime() >= RETRY_MS;
}
