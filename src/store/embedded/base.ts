/**
 * A base backup of the embedded database: a copy of the files of its cluster while it runs, as entries of a
 * tar file, which the write-ahead log since its start makes consistent. `base.json` comes first, then
 * `cluster/<path>/<n>`, pieces of a megabyte, and `end.json` last.
 */
import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { ArchiveError } from '../../kernel/crypt/age.ts';
import { undefinedIfMissing } from '../../kernel/files.ts';
import type { Sql } from '../../kernel/sql.ts';
import { destroyConnection } from '../connections/socket.ts';
import type { DumpSource } from '../dump/dump.ts';
import { type Entry, endOfEntries, writeEntry } from '../dump/tar.ts';
import { findHome } from './home.ts';

const PIECE_BYTES = 1024 ** 2;
const PIECE_DIGITS = 9;
const HEADER_NAME = 'base.json';
const END_NAME = 'end.json';
export const BASE_FORMAT = 1 as const;

/** PostgreSQL creates the contents of these at its next start, or has them from the archive. */
const EMPTY_FOLDERS = new Set([
  ...['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp'],
  'pg_subtrans',
]);
const LEFT_OUT =
  /^(?:postmaster\.(?:pid|opts)|pg_internal\.init.*|pgsql_tmp.*|(?:recovery|standby)\.signal)$/;

/** PostgreSQL names its files so. Any other was left by a person or the file system. */
const OWN_NAME = String.raw`\w[\w.-]*`;
const IS_OWN_NAME = new RegExp(`^${OWN_NAME}$`);

const ENTRY = new RegExp(`^cluster/((?:${OWN_NAME}/)*)(\\d{${PIECE_DIGITS}})?$`);

const BASE = Type.Object({
  format: Type.Literal(BASE_FORMAT),
  /** The version of Skerry. */
  release: Type.String(),
  /** The major version of PostgreSQL. */
  postgres: Type.String(),
  /** Opens with the service key of the database. Older releases did not write it. */
  key_check: Type.Optional(Type.String()),
  /** The size of the database when the base began. Older releases did not write it. */
  database_bytes: Type.Optional(Type.Number({ minimum: 0 })),
});
export type BaseHeader = Type.Static<typeof BASE>;
const isBase = Compile(BASE);

const END = Type.Object({
  /** On the clock of the database: a point in time before it cannot be reached from this base. */
  ended_at: Type.String({ format: 'date-time' }),
  /** The contents of PostgreSQL's `backup_label`. */
  label: Type.String(),
  /** The last segment of the write-ahead log that it needs. */
  segment: Type.String({ pattern: '^[0-9A-F]{24}$' }),
});
export type BaseEnd = Type.Static<typeof END>;
const isEnd = Compile(END);

interface StartOptions {
  readonly dataDir: string;
  readonly header: Omit<BaseHeader, 'format'>;
  /** Ends the backup with an error, also while it waits for the spool. */
  readonly signal?: AbortSignal | undefined;
}

export interface BaseStart {
  /** The first segment of the write-ahead log that it needs. */
  readonly segment: string;
  readonly startedAt: Date;
  readonly content: AsyncIterable<Uint8Array>;
  /** Ends it. Call it in any case: content that was never read does not end on its own. */
  readonly close: () => void;
}

/**
 * Begins a base backup, which ends when `content` was read to its end or with `close`. The files are read as
 * they are: a page that changes meanwhile is whole in the log.
 */
export async function startBase(
  source: DumpSource,
  { dataDir, header, signal }: StartOptions,
): Promise<BaseStart> {
  const home = await findHome(dataDir);
  if (home === null) throw new Error('there is no embedded database');
  const client = await source.open({ query_timeout: 0 }, (each) => each.on('error', () => undefined));
  const stop = () => destroyConnection(client);
  signal?.addEventListener('abort', stop);
  const close = () => {
    signal?.removeEventListener('abort', stop);
    stop();
  };
  try {
    const sql = source.withClient(client, Number.POSITIVE_INFINITY);
    const started = await sql.row<{ segment: string; at: Date }>(
      `select pg_walfile_name(pg_backup_start('skerry', fast => true)) as segment, clock_timestamp() as at`,
    );
    if (started === undefined) throw new Error('PostgreSQL did not start a backup');
    const content = readBase(sql, home.cluster, { ...header, format: BASE_FORMAT }, signal);
    return { segment: started.segment, startedAt: started.at, content, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function* readBase(
  sql: Sql,
  cluster: string,
  header: BaseHeader,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  yield* jsonEntry(HEADER_NAME, header);
  for await (const piece of readFolder(cluster, 'cluster')) {
    signal?.throwIfAborted();
    yield piece;
  }
  // Waits until the last segment that the base needs is in the spool.
  const stopped = await sql.row<{ label: string; at: Date; segment: string }>(
    `select labelfile as label, clock_timestamp() as at, pg_walfile_name(lsn) as segment
       from pg_backup_stop(wait_for_archive => true)`,
  );
  if (stopped === undefined) throw new Error('PostgreSQL did not end the backup');
  const { at, label, segment } = stopped;
  yield* jsonEntry(END_NAME, { ended_at: at.toISOString(), label, segment } satisfies BaseEnd);
  yield endOfEntries();
}

function* jsonEntry(name: string, value: object): Generator<Uint8Array> {
  yield* writeEntry({ name, bytes: Buffer.from(JSON.stringify(value, null, 1)) });
}

async function* readFolder(folder: string, name: string): AsyncGenerator<Uint8Array> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(undefinedIfMissing)) ?? [];
  yield* writeEntry({ name: `${name}/`, bytes: Buffer.alloc(0) });
  for (const entry of entries) {
    if (LEFT_OUT.test(entry.name) || !IS_OWN_NAME.test(entry.name)) continue;
    const [path, inner] = [join(folder, entry.name), `${name}/${entry.name}`];
    if (entry.isFile()) yield* readPieces(path, inner);
    else if (entry.isDirectory() && isEmptied(name, entry)) {
      yield* writeEntry({ name: `${inner}/`, bytes: Buffer.alloc(0) });
    } else if (entry.isDirectory()) yield* readFolder(path, inner);
  }
}

function isEmptied(parent: string, { name }: Dirent): boolean {
  return parent === 'cluster' && EMPTY_FOLDERS.has(name);
}

/** A table may be dropped meanwhile. */
async function* readPieces(path: string, name: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(undefinedIfMissing);
  if (file === undefined) return;
  try {
    for (let number = 0; ; number += 1) {
      const bytes = await readPiece(file);
      const piece = `${name}/${String(number).padStart(PIECE_DIGITS, '0')}`;
      if (bytes.length > 0 || number === 0) yield* writeEntry({ name: piece, bytes });
      if (bytes.length < PIECE_BYTES) return;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(file: FileHandle): Promise<Buffer> {
  const buffer = Buffer.alloc(PIECE_BYTES);
  let length = 0;
  while (length < PIECE_BYTES) {
    const { bytesRead } = await file.read(buffer, length, PIECE_BYTES - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** Where an entry of a base belongs. */
export type BaseEntry =
  | { readonly kind: 'header'; readonly header: BaseHeader }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'piece'; readonly path: string; readonly bytes: Buffer }
  | { readonly kind: 'end'; readonly end: BaseEnd };

/** Throws an ArchiveError if it is not an entry of a base, or leads out of the cluster. */
export function parseBaseEntry({ name, bytes }: Entry): BaseEntry {
  if (name === HEADER_NAME) return { kind: 'header', header: parseBase(bytes) };
  if (name === END_NAME) return { kind: 'end', end: parseEnd(bytes) };
  const found = ENTRY.exec(name);
  if (found === null) throw new ArchiveError('this is not a base backup of Skerry');
  const path = (found[1] ?? '').slice(0, -1);
  return found[2] === undefined ? { kind: 'folder', path } : { kind: 'piece', path, bytes };
}

function parseBase(bytes: Buffer): BaseHeader {
  const value = parseJson(bytes);
  if (isBase.Check(value)) return value;
  throw new ArchiveError('this is not a base backup of this release or an older one');
}

function parseEnd(bytes: Buffer): BaseEnd {
  const value = parseJson(bytes);
  if (isEnd.Check(value)) return value;
  throw new ArchiveError('the end of the base backup is damaged');
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
