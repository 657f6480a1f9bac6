/**
 * Restores a backup into an empty database, and leaves the service in recovery: the rows end with the
 * backup, and the world went on. Orders and billing by date stay off afterward, until the operator has seen
 * which machines and payments are newer.
 */
import { join } from 'node:path';
import { decryptArchive } from '../../../kernel/crypt/age.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, formatRfc3339 } from '../../../kernel/time.ts';
import { isCoinCode } from '../../../spec/coins.ts';
import type { SwitchName } from '../../../spec/switches.ts';
import type { OpenDatabase } from '../../../store/db.ts';
import type { BackupHeader, BackupManifest } from '../../../store/dump/format.ts';
import { loadDatabase } from '../../../store/dump/load.ts';
import { skipBackendCalls } from '../../../store/inventory/backends.ts';
import { isCovered, MarkFile } from '../../../store/service/mark-file.ts';
import { saveRestoration } from '../../../store/service/restoration.ts';
import { deferSuspensions } from '../../../store/staff/abuse.ts';
import { type AddressNumbers, saveMark } from '../../../store/topups/marks.ts';
import { type IdentityOptions, openStoredIdentity, requireKeys } from '../../database-identity.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { switchOff } from '../../rules/switches.ts';

const REASON = 'The database was restored.';
/** Customers may have answered reports of abuse after the backup. */
const SUSPENSION_DAYS = 7;
const SWITCHED_OFF = ['deploys', 'renewals'] as const satisfies readonly SwitchName[];

export interface RestoreOptions {
  readonly db: OpenDatabase;
  /** The encrypted archive. */
  readonly content: AsyncIterable<Uint8Array>;
  readonly identities: readonly string[];
  readonly identity: IdentityOptions;
}

export interface Restored {
  readonly header: BackupHeader;
  readonly rows: number;
  /** Whether address marks of this database, not older than the backup, were found in the data folder. */
  readonly withMarks: boolean;
}

export async function restoreBackup({
  db,
  content,
  identities,
  identity,
}: RestoreOptions): Promise<Restored> {
  let withMarks = false;
  const { header, manifest } = await loadDatabase(db, decryptArchive(content, identities), {
    checkHeader: ({ mode, key_check: keyCheck }) => {
      requireMode(mode, identity.mode);
      if (keyCheck !== undefined) requireKeys(identity, keyCheck);
    },
    finish: async (tx, loaded) => {
      const { database, taken_at: takenAt } = loaded.header;
      const numbers = toNumbers(loaded.manifest);
      withMarks = await markRestored(tx, { identity, database, takenAt: new Date(takenAt), numbers });
      await saveMarks(tx, loaded.manifest);
    },
  });
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  return { header, rows, withMarks };
}

export interface Moment {
  readonly identity: IdentityOptions;
  /** The incarnation of the database. */
  readonly database: string;
  /** The time of the last change, on the clock of the business. */
  readonly takenAt: Date;
  readonly numbers: readonly (AddressNumbers & { readonly coin: string })[];
}

/** Puts a database whose rows were restored into recovery. Returns whether there are marks as new as they. */
export async function markRestored(
  tx: Sql,
  { identity, database, takenAt, numbers }: Moment,
): Promise<boolean> {
  const { clockOffsetMs } = await openStoredIdentity(tx, identity);
  const now = new Date(Date.now() + clockOffsetMs);
  const found = await new MarkFile(markFilePath(identity.dataDir, database)).read();
  const withMarks = isCovered(numbers, found);
  await saveRestoration(tx, {
    restored_at: now,
    restored_from: takenAt,
    restored_with_marks: withMarks,
  });
  await skipBackendCalls(tx);
  await deferSuspensions(tx, new Date(now.getTime() + SUSPENSION_DAYS * DAY_MS));
  for (const name of SWITCHED_OFF) await switchOff(tx, name, REASON, now);
  const resource = formatRfc3339(takenAt);
  await recordAudit(tx, { actor: systemActor(now), action: 'database.restore', resource }, now);
  return withMarks;
}

function requireMode(mode: BackupHeader['mode'], wanted: BackupHeader['mode']): void {
  if (mode === wanted) return;
  throw new OperatorError(`this is a backup of a ${mode} service: set SKERRY_MODE=${mode} to restore it`);
}

/**
 * The numbers at the end of the backup are later than its rows, so the recovery raises the rows to them. They
 * do not go to the folder: what is there afterward would look like marks that survived.
 */
async function saveMarks(tx: Sql, manifest: BackupManifest): Promise<void> {
  for (const { coin, ...numbers } of toNumbers(manifest))
    if (isCoinCode(coin)) await saveMark(tx, coin, numbers);
}

function toNumbers({ marks }: BackupManifest): readonly (AddressNumbers & { readonly coin: string })[] {
  return marks.map(({ coin, next_index, given, pool_place }) => ({
    coin,
    ...{ next_index: BigInt(next_index), given: BigInt(given), pool_place: BigInt(pool_place) },
  }));
}

/** The file of a database's address marks in the data folder. */
export function markFilePath(dataDir: string, database: string): string {
  return join(dataDir, 'address-marks', `${database}.log`);
}
