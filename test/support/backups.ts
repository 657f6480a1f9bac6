/** Backups in tests: an age key, commands as typed, and the contents of an archive. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArchiveBucket } from '../../src/compose/backups.ts';
import { identityOptions } from '../../src/compose/database.ts';
import type { Config } from '../../src/config.ts';
import { createIdentity, decryptArchive } from '../../src/kernel/crypt/age.ts';
import type { OpenService } from '../../src/operator/context.ts';
import { runOperator } from '../../src/operator/run.ts';
import { type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { type DumpSource, dumpDatabase } from '../../src/store/dump/dump.ts';
import { type BackupManifest, FORMAT, MANIFEST_NAME, parseManifest } from '../../src/store/dump/format.ts';
import { readEntries } from '../../src/store/dump/tar.ts';
import { createScratchDatabase } from './database.ts';

export interface BackupFolder {
  readonly folder: string;
  /** For SKERRY_BACKUP_RECIPIENTS. */
  readonly recipient: string;
  readonly identity: string;
  /** The file with the identity. */
  readonly identityFile: string;
  remove(): Promise<void>;
}

export async function createBackupFolder(): Promise<BackupFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-archives-'));
  const { identity, recipient } = await createIdentity();
  const identityFile = join(folder, 'identity.txt');
  await writeFile(identityFile, `# created by a test\n${identity}\n`);
  return {
    ...{ folder, recipient, identity, identityFile },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface Ran {
  readonly code: number;
  readonly text: string;
}

/** Runs `backup` on an open service. */
export async function runBackup(
  open: Pick<OpenService, 'service'>,
  ...argv: readonly string[]
): Promise<Ran> {
  const resources = {
    settings: () => [],
    database: async () => Promise.reject(new Error('the command opened a database of its own')),
    service: async () => ({
      ...open,
      register: async () => undefined,
      carryOut: async () => undefined,
      coins: null,
    }),
  };
  return await run(resources, ['backup', ...argv]);
}

export interface RestoreTarget {
  readonly db: OpenDatabase;
  readonly connection: Awaited<ReturnType<typeof createScratchDatabase>>['connection'];
  /** Runs `restore` with more flags. */
  restore(config: Config, file: string, identityFile: string, ...flags: readonly string[]): Promise<Ran>;
  close(): Promise<void>;
}

/** An empty database. */
export async function openRestoreTarget(): Promise<RestoreTarget> {
  const { connection, drop } = await createScratchDatabase({ empty: true });
  const db = openDatabase(connection, { poolSize: 2, statementTimeoutMs: 0 });
  return {
    ...{ db, connection },
    restore: async (config, file, identityFile, ...flags) => {
      const resources = {
        settings: () => [],
        identity: () => identityOptions(config),
        archives: async () => openArchiveBucket(config),
        database: async () => db,
        service: async () => Promise.reject(new Error('a restore opens no service')),
      };
      return await run(resources, ['restore', file, '--identity', identityFile, ...flags]);
    },
    close: async () => {
      await db.close();
      await drop();
    },
  };
}

/** Runs `backup` where there is no database. */
export async function runWithoutDatabase(config: Config, ...argv: readonly string[]): Promise<Ran> {
  const refuse = async () => Promise.reject(new Error('there is no database'));
  const archives = async () => openArchiveBucket(config);
  return await run({ settings: () => [], archives, database: refuse, service: refuse }, ['backup', ...argv]);
}

async function run(resources: Parameters<typeof runOperator>[1], argv: readonly string[]): Promise<Ran> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const code = await runOperator(argv, resources, undefined, { out: print, err: print, ask: null });
  return { code, text: lines.join('\n') };
}

/** Returns the decrypted tar file. */
export async function readArchive(file: string, identity: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of decryptArchive(oneChunk(await readFile(file)), [identity])) pieces.push(piece);
  return Buffer.concat(pieces);
}

export async function readManifest(content: AsyncIterable<Uint8Array>): Promise<BackupManifest> {
  for await (const { name, bytes } of readEntries(content)) {
    if (name === MANIFEST_NAME) return parseManifest(bytes);
  }
  throw new Error('the archive has no manifest');
}

/** Returns the checksums of all tables of a database. */
export async function dumpManifest(source: DumpSource): Promise<BackupManifest> {
  const header = {
    format: FORMAT,
    ...({ release: '0', mode: 'sandbox', database: '', taken_at: '2026-01-01T00:00:00Z' } as const),
  };
  return await readManifest(dumpDatabase(source, { header, readMarks: async () => [] }));
}

export async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
