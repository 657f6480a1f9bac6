/**
 * Writes all tables of the database as one stream, in one snapshot (REPEATABLE READ), so a service may go on
 * meanwhile. Needs no program of PostgreSQL: the schema is that of our migrations, so only rows are copied.
 * Unlogged tables are left out. While a large backup runs, its snapshot keeps old row versions from vacuum.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { destroyConnection } from '../connections/socket.ts';
import type { OpenDatabase } from '../db.ts';
import {
  type DumpedTable,
  listMigrations,
  listTables,
  prepareSession,
  readSequences,
  requireNoOtherTables,
} from './catalog.ts';
import { type BackupHeader, type BackupManifest, HEADER_NAME, MANIFEST_NAME } from './format.ts';
import { endOfEntries, writeEntry } from './tar.ts';

const ENTRY_BYTES = 1024 ** 2;
const ENTRY_DIGITS = 9;
/** Rows of `COPY` end with it; within a row it is written as `\n`. */
const LINE_FEED = 10;

export type DumpSource = Pick<OpenDatabase, 'open' | 'withClient'>;

export interface DumpOptions {
  readonly header: Pick<BackupHeader, 'format' | 'release' | 'mode' | 'database' | 'key_check' | 'taken_at'>;
  /** Called after the last row was read. */
  readonly readMarks: () => Promise<BackupManifest['marks']>;
  /** Ends the backup with an error. */
  readonly signal?: AbortSignal | undefined;
}

export async function* dumpDatabase(
  source: DumpSource,
  { header, readMarks, signal }: DumpOptions,
): AsyncGenerator<Uint8Array> {
  const client = await source.open({ query_timeout: 0 }, (each) => each.on('error', () => undefined));
  const stop = () => destroyConnection(client);
  signal?.addEventListener('abort', stop);
  try {
    const sql = source.withClient(client, Number.POSITIVE_INFINITY);
    const names = (await listTables(sql)).map(({ name }) => name);
    await sql.run('begin isolation level repeatable read read only');
    await prepareSession(sql);
    // Before the first query, which takes the snapshot: a change of a table behind it would leave no rows.
    await sql.run(`lock table ${names.join(', ')} in access share mode`);
    const [migrations, tables] = [await listMigrations(sql), await listTables(sql)];
    await requireNoOtherTables(sql, tables);
    const whole: BackupHeader = { ...header, migrations, tables: tables.map(toJson) };
    yield* writeEntry({ name: HEADER_NAME, bytes: Buffer.from(JSON.stringify(whole, null, 1)) });
    const copied: BackupManifest['tables'][number][] = [];
    for (const table of tables) copied.push(yield* dumpTable(client, table, signal));
    const manifest = { tables: copied, sequences: await readSequences(sql), marks: await readMarks() };
    await sql.run('commit');
    yield* writeEntry({ name: MANIFEST_NAME, bytes: Buffer.from(JSON.stringify(manifest, null, 1)) });
    yield endOfEntries();
  } finally {
    signal?.removeEventListener('abort', stop);
    // Also in the middle of a copy.
    stop();
  }
}

function toJson({ name, columns }: DumpedTable): BackupHeader['tables'][number] {
  return { name, columns: [...columns] };
}

async function* dumpTable(
  client: pg.Client,
  table: DumpedTable,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, BackupManifest['tables'][number]> {
  const hash = createHash('sha256');
  const copy = client.query(copyTo(copyOut(table)));
  // A connection that is lost behind the last row has no other listener.
  copy.on('error', () => undefined);
  let number = 0;
  // `copy.rowCount` is set only after the stream has ended.
  let rows = 0;
  for await (const bytes of inPieces(copy)) {
    signal?.throwIfAborted();
    hash.update(bytes);
    rows += countRows(bytes);
    yield* writeEntry({ name: entryName(table.name, number++), bytes });
  }
  return { name: table.name, rows, sha256: hash.digest('hex') };
}

function entryName(table: string, number: number): string {
  return `tables/${table}/${String(number).padStart(ENTRY_DIGITS, '0')}`;
}

/** Returns the table of an entry; null if it is another entry. */
export function tableOfEntry(name: string): string | null {
  const [folder, table, number] = name.split('/');
  return folder === 'tables' && table !== undefined && number !== undefined ? table : null;
}

export function countRows(bytes: Uint8Array): number {
  let rows = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) rows += 1;
  return rows;
}

/** A partitioned table can only be read by a query. */
function copyOut({ name, columns }: DumpedTable): string {
  return `copy (select ${columns.join(', ')} from ${name}) to stdout`;
}

export function copyIn({ name, columns }: DumpedTable): string {
  // A statement for a table without columns has no list.
  return `copy ${name} ${columns.length > 0 ? `(${columns.join(', ')})` : ''} from stdin`;
}

async function* inPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes < ENTRY_BYTES) continue;
    yield Buffer.concat(pending);
    [pending, pendingBytes] = [[], 0];
  }
  if (pendingBytes > 0) yield Buffer.concat(pending);
}
