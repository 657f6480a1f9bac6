/**
 * Reads a backup into an empty database, in one transaction: after a failure or a kill, the database is as
 * empty as before. Foreign keys are dropped and created again behind the rows, which proves them. Triggers do
 * not fire: the rows are what they left. Both need only the owner of the tables.
 */
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ArchiveError } from '../../kernel/crypt/age.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { destroyConnection } from '../connections/socket.ts';
import type { OpenDatabase } from '../db.ts';
import { migrate, migrationFiles } from '../migrate.ts';
import { findServiceRow, lockServiceRow } from '../service/service.ts';
import {
  type DumpedTable,
  listForeignKeys,
  listMigrations,
  listTables,
  listTriggered,
  prepareSession,
  setSequence,
} from './catalog.ts';
import { copyIn, tableOfEntry } from './dump.ts';
import {
  type BackupHeader,
  type BackupManifest,
  HEADER_NAME,
  MANIFEST_NAME,
  parseHeader,
  parseManifest,
} from './format.ts';
import { type Entry, readEntries } from './tar.ts';

export interface LoadOptions {
  /** Called before anything is written. */
  readonly checkHeader: (header: BackupHeader) => void | Promise<void>;
  /** Called in the transaction, behind all rows. An error undoes everything. */
  readonly finish: (tx: Sql, loaded: Loaded) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface Loaded {
  readonly header: BackupHeader;
  readonly manifest: BackupManifest;
}

/** `content` is a decrypted backup. Throws an OperatorError unless the database is empty. */
export async function loadDatabase(
  db: OpenDatabase,
  content: AsyncIterable<Uint8Array>,
  options: LoadOptions,
): Promise<Loaded> {
  await requireEmpty(db);
  const entries = readEntries(content);
  try {
    const header = parseHeader((await nextEntry(entries, HEADER_NAME)).bytes);
    await options.checkHeader(header);
    await migrateTo(db, header);
    const client = await db.open({ query_timeout: 0 }, (each) => each.on('error', () => undefined));
    try {
      const sql = db.withClient(client, Number.POSITIVE_INFINITY);
      await sql.run('begin');
      await prepareSession(sql);
      const manifest = await loadRows({ client, sql, header, entries, signal: options.signal });
      await options.finish(sql, { header, manifest });
      await sql.run('commit');
      await sql.run('analyze');
      return { header, manifest };
    } finally {
      destroyConnection(client);
    }
  } finally {
    await entries.return(undefined);
  }
}

/** A database that no service has opened has no service row, only tables, as a killed restore leaves them. */
async function requireEmpty(db: Sql): Promise<void> {
  const isUsed = (await findServiceRow(db)) !== undefined;
  const isForeign = (await listMigrations(db)).length === 0 && (await listTables(db)).length > 0;
  if (!isUsed && !isForeign) return;
  throw new OperatorError(
    'the database is not empty: restore into a new one, with another DATABASE_URL or SKERRY_DATA_DIR',
  );
}

async function nextEntry(entries: AsyncGenerator<Entry>, name: string): Promise<Entry> {
  const { done, value } = await entries.next();
  if (done === true || value.name !== name) throw new ArchiveError('this is not a backup of Skerry');
  return value;
}

/** Creates the tables as they were. A newer release changes them afterward, as in an upgrade. */
async function migrateTo(db: OpenDatabase, { migrations, release }: BackupHeader): Promise<void> {
  const ours = new Map(migrationFiles().map(({ name, sha256 }) => [name, sha256]));
  const unknown = migrations.find(({ name, sha256 }) => ours.get(name) !== sha256);
  if (unknown) {
    throw new OperatorError(
      `release ${release} made this backup, with migration ${unknown.name}, which this release does not ` +
        'include: restore it with that release or a newer one',
    );
  }
  const names = migrations.map(({ name }) => name).sort();
  await migrate(db, { upTo: names.at(-1) });
  const done = (await listMigrations(db)).map(({ name }) => name);
  if (done.length !== names.length) {
    throw new OperatorError(
      `the database has ${done.length} migrations, and the backup ${names.length}: restore into a new one`,
    );
  }
}

interface Loading {
  readonly client: pg.Client;
  readonly sql: Sql;
  readonly header: BackupHeader;
  readonly entries: AsyncGenerator<Entry>;
  readonly signal: AbortSignal | undefined;
}

async function loadRows(loading: Loading): Promise<BackupManifest> {
  const { sql, header } = loading;
  const tables = await requireSameTables(sql, header);
  await lockServiceRow(sql);
  await requireEmpty(sql);
  const keys = await listForeignKeys(sql);
  for (const { table_name: table, name } of keys)
    await sql.run(`alter table ${table} drop constraint ${name}`);
  const triggered = await listTriggered(sql);
  for (const name of triggered) await sql.run(`alter table ${name} disable trigger user`);
  await sql.run(`truncate ${tables.map(({ name }) => name).join(', ')}`);
  const { manifest, copied } = await copyTables(loading, tables);
  requireManifest(manifest, copied);
  for (const sequence of manifest.sequences) await setSequence(sql, sequence);
  for (const name of triggered) await sql.run(`alter table ${name} enable trigger user`);
  for (const { table_name: table, name, definition } of keys)
    await sql.run(`alter table ${table} add constraint ${name} ${definition}`);
  return manifest;
}

async function requireSameTables(sql: Sql, header: BackupHeader): Promise<readonly DumpedTable[]> {
  const tables = await listTables(sql);
  const describe = (each: readonly DumpedTable[]) =>
    JSON.stringify(each.map(({ name, columns }) => [name, [...columns].sort()]).sort());
  if (describe(tables) === describe(header.tables)) return tables;
  throw new OperatorError(
    'the tables of the backup are not those of its migrations: some are of other programs, or were changed',
  );
}

interface Copied {
  readonly rows: number;
  readonly sha256: string;
}

/** The entries of a table follow one another. */
async function copyTables(
  { client, entries, signal }: Loading,
  tables: readonly DumpedTable[],
): Promise<{ readonly manifest: BackupManifest; readonly copied: ReadonlyMap<string, Copied> }> {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const copied = new Map<string, Copied>();
  let current: TableCopy | null = null;
  for await (const { name, bytes } of entries) {
    signal?.throwIfAborted();
    const table = tableOfEntry(name);
    if (current !== null && table !== current.name) {
      copied.set(current.name, await current.end());
      current = null;
    }
    if (table === null) {
      if (name !== MANIFEST_NAME) throw new ArchiveError(`the backup has an unknown entry ${name}`);
      const manifest = parseManifest(bytes);
      if ((await entries.next()).done !== true) throw new ArchiveError('the backup goes on after its end');
      return { manifest, copied };
    }
    const target = byName.get(table);
    if (target === undefined || copied.has(table))
      throw new ArchiveError(`the backup has a table ${table} twice`);
    current ??= new TableCopy(client, target);
    await current.write(bytes);
  }
  throw new ArchiveError('the archive is damaged or incomplete');
}

class TableCopy {
  readonly name: string;
  readonly #hash: Hash = createHash('sha256');
  readonly #stream: ReturnType<typeof copyFrom>;
  #failure: Error | undefined;

  constructor(client: pg.Client, table: DumpedTable) {
    this.name = table.name;
    this.#stream = client.query(copyFrom(copyIn(table)));
    this.#stream.on('error', (error: Error) => {
      this.#failure ??= error;
    });
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#failure) throw this.#failure;
    this.#hash.update(bytes);
    if (!this.#stream.write(bytes)) await once(this.#stream, 'drain');
  }

  async end(): Promise<Copied> {
    if (this.#failure) throw this.#failure;
    const finished = once(this.#stream, 'finish');
    this.#stream.end();
    await finished;
    return { rows: this.#stream.rowCount, sha256: this.#hash.digest('hex') };
  }
}

function requireManifest(manifest: BackupManifest, copied: ReadonlyMap<string, Copied>): void {
  for (const { name, rows, sha256 } of manifest.tables) {
    const found = copied.get(name) ?? { rows: 0, sha256: createHash('sha256').digest('hex') };
    if (found.rows === rows && found.sha256 === sha256) continue;
    throw new ArchiveError(`the table ${name} of the backup has ${found.rows} rows instead of ${rows}`);
  }
  const listed = new Set(manifest.tables.map(({ name }) => name));
  const unlisted = [...copied.keys()].find((name) => !listed.has(name));
  if (unlisted !== undefined) throw new ArchiveError(`the manifest does not list the table ${unlisted}`);
}
