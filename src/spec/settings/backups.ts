/** Settings of backups of the database. */
import { choice, text, whole } from './rows.ts';

export const BACKUP_SETTINGS = {
  SKERRY_BACKUP_RECIPIENTS: text(
    null,
    'age recipients whose identities can read backups, age1…, comma-separated; required for backups',
  ),
  SKERRY_BACKUP_TO: text(
    null,
    'where scheduled backups go: a folder, or store for the store of SKERRY_S3_URL; unset: none are made',
  ),
  SKERRY_BACKUP_EVERY_HOURS: choice(
    ['1', '2', '3', '4', '6', '8', '12', '24'],
    '24',
    'hours between scheduled backups, counted from SKERRY_BACKUP_AT',
  ),
  SKERRY_BACKUP_AT: text('02:30', 'time of day in UTC of a scheduled backup, such as 02:30'),
  SKERRY_BACKUP_VERIFY: choice(
    ['restore', 'read'],
    'restore',
    'how backups are verified. restore: in a scratch PostgreSQL, and bases, too; read: by checksums',
  ),
  SKERRY_BACKUP_KEEP_DAYS: whole(
    '30',
    [1, 3650],
    'days that scheduled backups are kept; the newest verified backup stays longer',
  ),
  SKERRY_BACKUP_WAL_DAYS: whole(
    '0',
    [0, 365],
    'days back to which the embedded database can be restored, to any second; 0: only to a backup',
  ),
} as const;

/** The value of SKERRY_BACKUP_TO that is not a folder. */
export const BACKUP_TO_STORE = 'store';
