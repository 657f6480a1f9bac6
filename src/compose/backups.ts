/** Where backups of the database go, and what they are read from. */
import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import type { BackupPlan } from '../domain/upkeep/backups/plan.ts';
import type { WalPlan } from '../domain/upkeep/wal/plan.ts';
import { ArchiveBucket, StoredArchives } from '../drivers/blobs/archives-in-store.ts';
import { DiskArchives } from '../drivers/blobs/archives-on-disk.ts';
import { listWalArchives, openWalArchive } from '../drivers/blobs/wal-on-disk.ts';
import { parseRecipients } from '../kernel/crypt/age.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { StoredWal } from '../operator/context.ts';
import type { ArchiveSource, ArchiveStore } from '../ports/archives.ts';
import { BACKUP_TO_STORE } from '../spec/settings/backups.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../store/db.ts';
import { openWalSpool } from '../store/embedded/archiving.ts';
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
      ...walPlan(config, { source, recipients, database }),
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

function walPlan(
  { SKERRY_BACKUP_WAL_DAYS: days, SKERRY_BACKUP_TO: to, SKERRY_DATA_DIR: dataDir }: Config,
  parts: Pick<WalPlan, 'source' | 'recipients'> & { readonly database: string },
): { readonly wal?: WalPlan } {
  if (days === 0 || to === null) return {};
  const { database, ...rest } = parts;
  const openSpool = () => openWalSpool({ dataDir });
  const open = (cluster: string) => openWalArchive(resolve(to), { database, cluster });
  const listArchives = async () =>
    (await listWalArchives(resolve(to)))
      .filter((name) => name.database === database)
      .map(({ cluster }) => open(cluster));
  return { wal: { ...rest, dataDir, days, openSpool, open, listArchives } };
}

/** Returns the archives of a folder for point-in-time recovery. Throws unless the database is embedded. */
export async function findWalArchives({ DATABASE_URL: url }: Config, folder: string): Promise<StoredWal[]> {
  if (url !== null)
    throw new OperatorError('DATABASE_URL is set: restore that database with the tools of its archive');
  const names = await listWalArchives(resolve(folder));
  return names.map((name) => ({
    database: name.database,
    archive: openWalArchive(resolve(folder), name),
  }));
}

/** Returns the backups in the store of files; null if none is set. */
export function openArchiveBucket(config: Config): ArchiveSource | null {
  const options = storeOptions(config);
  return options === null ? null : new ArchiveBucket(options);
}
