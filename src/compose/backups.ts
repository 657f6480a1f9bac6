/** Where backups of the database go, and what they are read from. */
import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import type { BackupPlan } from '../domain/upkeep/backups/plan.ts';
import { StoredArchives } from '../drivers/blobs/archives-in-store.ts';
import { DiskArchives } from '../drivers/blobs/archives-on-disk.ts';
import { parseRecipients } from '../kernel/crypt/age.ts';
import type { ArchiveStore } from '../ports/archives.ts';
import { BACKUP_TO_STORE } from '../spec/settings/backups.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../store/db.ts';
import { withoutPooler } from './database.ts';
import { storeOptions } from './drivers.ts';

export interface Backups {
  readonly plan: BackupPlan;
  readonly source: OpenDatabase;
}

/** Returns null without recipients. loadConfig has validated the settings. */
export function createBackups(
  config: Config,
  connection: ConnectionSettings,
  database: string,
): Backups | null {
  const recipients = parseRecipients(config.SKERRY_BACKUP_RECIPIENTS ?? '');
  if (recipients === null) return null;
  // Its pool stays empty: a backup opens one connection of its own, without time limits.
  const source = openDatabase(withoutPooler(connection), { poolSize: 1, statementTimeoutMs: 0 });
  const openFolder = (folder: string) => new DiskArchives({ folder: resolve(folder), database });
  const options = storeOptions(config);
  const store = options === null ? null : new StoredArchives(options, database);
  const [hours = 0, minutes = 0] = config.SKERRY_BACKUP_AT.split(':').map(Number);
  return {
    source,
    plan: {
      source,
      recipients,
      target: target(config.SKERRY_BACKUP_TO, store, openFolder),
      everyHours: Number(config.SKERRY_BACKUP_EVERY_HOURS),
      atMinutes: hours * 60 + minutes,
      keepDays: config.SKERRY_BACKUP_KEEP_DAYS,
      scratchFolder: config.SKERRY_BACKUP_VERIFY === 'restore' ? config.SKERRY_DATA_DIR : null,
      openFolder,
      store,
    },
  };
}

function target(
  to: string | null,
  store: ArchiveStore | null,
  openFolder: (folder: string) => ArchiveStore,
): ArchiveStore | null {
  if (to === null) return null;
  return to === BACKUP_TO_STORE ? store : openFolder(to);
}
