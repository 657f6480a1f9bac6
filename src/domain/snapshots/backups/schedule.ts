/** When the backups of a server start. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/time.ts';
import { WEEKDAYS } from '../../../spec/schemas/backup-policy.ts';
import type { BackupSchedule } from '../../../store/servers/backups.ts';

/** The last minutes of the hour remain for retries. */
const START_MINUTES = 50;

/** Returns the start of the first backup after that time. Servers start at different minutes of the hour. */
export function nextBackupAt(serverId: string, schedule: BackupSchedule, after: Date): Date {
  const minute = Number.parseInt(serverId.slice(-4), 16) % START_MINUTES;
  const midnight = Math.floor(after.getTime() / DAY_MS) * DAY_MS;
  let at = midnight + schedule.hour_utc * HOUR_MS + minute * MINUTE_MS;
  while (at <= after.getTime() || !isOnDay(schedule, at)) at += DAY_MS;
  return new Date(at);
}

function isOnDay({ weekday }: BackupSchedule, at: number): boolean {
  return weekday === null || WEEKDAYS[new Date(at).getUTCDay()] === weekday;
}

/** Returns the hour in which a backup starts. */
export function backupWindow(startsAt: Date): { readonly start: Date; readonly end: Date } {
  const start = Math.floor(startsAt.getTime() / HOUR_MS) * HOUR_MS;
  return { start: new Date(start), end: new Date(start + HOUR_MS) };
}

/** Returns how many backups a service that was away missed. */
export function countMissed({ every }: BackupSchedule, startsAt: Date, now: Date): number {
  const periodMs = every === 'day' ? DAY_MS : 7 * DAY_MS;
  return 1 + Math.floor((now.getTime() - backupWindow(startsAt).end.getTime()) / periodMs);
}
