/** Where backups of the database go, and what they are read from. */
import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import { type BackupPlan, NO_STORE } from '../domain/upkeep/backups/plan.ts';
import type { WalPlan } from '../domain/upkeep/wal/plan.ts';
import { ArchiveBucket, openStoredBackups } from '../drivers/blobs/archives-in-store.ts';
import { DiskArchives } from '../drivers/blobs/archives-on-disk.ts';
import { listStoredWal, openStoredWal } from '../drivers/blobs/wal-in-store.ts';
import { listWalArchives, openWalArchive, type WalArchiveName } from '../drivers/blobs/wal-on-disk.ts';
import { parseRecipients } from '../kernel/crypt/age.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { StoredWal } from '../operator/context.ts';
import type { ArchiveSource, ArchiveStore, WalArchive } from '../ports/archives.ts';
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
  const store = options === null ? null : openStoredBackups(options, database);
  const scratchFolder = config.SKERRY_BACKUP_VERIFY === 'restore' ? config.SKERRY_DATA_DIR : null;
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
      dataDir: config.SKERRY_DATA_DIR,
      scratchFolder,
      openFolder,
      store,
      ...walPlan(config, { source, recipients, scratchFolder, database }),
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
  config: Config,
  parts: Pick<WalPlan, 'source' | 'recipients' | 'scratchFolder'> & { readonly database: string },
): { readonly wal?: WalPlan } {
  const { SKERRY_BACKUP_WAL_DAYS: days, SKERRY_BACKUP_TO: to, SKERRY_DATA_DIR: dataDir } = config;
  if (days === 0 || to === null) return {};
  const { database, ...rest } = parts;
  const place = walPlace(config, to === BACKUP_TO_STORE ? null : to);
  const openSpool = () => openWalSpool({ dataDir });
  const open = (cluster: string, signal?: AbortSignal) => place.open({ database, cluster }, signal);
  const listArchives = async () =>
    (await place.list()).filter((name) => name.database === database).map((name) => place.open(name));
  return { wal: { ...rest, dataDir, days, openSpool, open, listArchives } };
}

interface WalPlace {
  readonly list: () => Promise<WalArchiveName[]>;
  readonly open: (name: WalArchiveName, signal?: AbortSignal) => WalArchive;
}

/** `folder` null: in the store of files. */
function walPlace(config: Config, folder: string | null): WalPlace {
  if (folder !== null) {
    const path = resolve(folder);
    return { list: () => listWalArchives(path), open: (name) => openWalArchive(path, name) };
  }
  const options = storeOptions(config);
  if (options === null) throw new OperatorError(NO_STORE);
  return { list: () => listStoredWal(options), open: (name, signal) => openStoredWal(options, name, signal) };
}

/**
 * Returns the archives for point-in-time recovery in a folder, or in the store if it is null. Throws unless
 * the database is embedded.
 */
export async function findWalArchives(config: Config, folder: string | null): Promise<StoredWal[]> {
  if (config.DATABASE_URL !== null)
    throw new OperatorError('DATABASE_URL is set: restore that database with the tools of its archive');
  const { list, open } = walPlace(config, folder);
  return (await list()).map((name) => ({ database: name.database, archive: open(name) }));
}

/** Returns the backups in the store of files; null if none is set. */
export function openArchiveBucket(config: Config): ArchiveSource | null {
  const options = storeOptions(config);
  return options === null ? null : new ArchiveBucket(options);
}
