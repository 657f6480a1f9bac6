/** Writes one backup of the database: dumped, compressed, encrypted to the recipients, and stored. */
import { encryptArchive } from '../../../kernel/crypt/age.ts';
import { newId } from '../../../kernel/ids.ts';
import { readVersion } from '../../../kernel/settings/version.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { ArchiveInfo, ArchiveStore } from '../../../ports/archives.ts';
import { type DumpSource, dumpDatabase } from '../../../store/dump/dump.ts';
import { type BackupManifest, FORMAT } from '../../../store/dump/format.ts';
import { readDatabaseBytes } from '../../../store/service/backups.ts';
import { findServiceRow, readIncarnation } from '../../../store/service/service.ts';
import { listAddressNumbers } from '../../../store/topups/marks.ts';
import type { Service } from '../../context.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'settings'>;

export interface WriteOptions {
  readonly source: DumpSource;
  readonly target: ArchiveStore;
  readonly recipients: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface WrittenBackup extends ArchiveInfo {
  readonly id: string;
}

export async function writeBackup(service: Deps, options: WriteOptions): Promise<WrittenBackup> {
  const { source, target, recipients, signal } = options;
  const { db, clock, settings } = service;
  const now = clock.now();
  const id = newId(now);
  const keyCheck = (await findServiceRow(db))?.key_check;
  const content = dumpDatabase(source, {
    header: {
      format: FORMAT,
      release: readVersion(),
      mode: settings.mode,
      database: await readIncarnation(db),
      ...(keyCheck === undefined ? {} : { key_check: keyCheck }),
      taken_at: formatRfc3339(now),
    },
    readMarks: () => readMarks(service),
    signal,
  });
  const archive = encryptArchive(content, recipients);
  return { id, ...(await target.write(id, archive, await readDatabaseBytes(db))) };
}

/** The numbers of now are later than the snapshot of the rows. */
async function readMarks({ db }: Deps): Promise<BackupManifest['marks']> {
  return (await listAddressNumbers(db)).map(({ coin, next_index, given, pool_place }) => ({
    coin,
    next_index: String(next_index),
    given: String(given),
    pool_place: String(pool_place),
  }));
}
