/**
 * Proves a backup: reads the stored archive back, decrypts it with the identity of this run, restores it into
 * a scratch PostgreSQL in the data folder, and checks every invariant of `skerryd verify` there. The
 * database's own server has no part in it, so this works for any database.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { decryptArchive } from '../../../kernel/crypt/age.ts';
import { freeBytes, undefinedIfMissing } from '../../../kernel/files.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { GIB_BYTES } from '../../../kernel/sizes.ts';
import type { ArchiveStore } from '../../../ports/archives.ts';
import { openDatabase } from '../../../store/db.ts';
import { checkDump } from '../../../store/dump/check.ts';
import { loadDatabase } from '../../../store/dump/load.ts';
import { removeAbandoned, removeEmbedded, startEmbedded } from '../../../store/embedded/index.ts';
import { type BackupRow, readDatabaseBytes } from '../../../store/service/backups.ts';
import type { Service } from '../../context.ts';
import { verify } from '../../verify/verify.ts';

const PREFIX = 'backup-check-';
/** The tables again, the write-ahead log of their rows, and an empty database. */
const SPACE_FACTOR = 2.5;

export interface ProveOptions {
  readonly target: ArchiveStore;
  readonly written: Pick<BackupRow, 'id' | 'sha256'>;
  readonly identity: string;
  /** Where the scratch database is; null: without one, only the archive is checked. */
  readonly scratchFolder: string | null;
  readonly signal?: AbortSignal | undefined;
}

export async function proveBackup({ db }: Pick<Service, 'db'>, options: ProveOptions): Promise<void> {
  const { scratchFolder: parent } = options;
  if (parent === null) {
    await readBack(options, checkDump);
    return;
  }
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeLeftovers(parent);
  await requireSpace(parent, await readDatabaseBytes(db));
  const dataDir = await mkdtemp(join(parent, PREFIX));
  try {
    await proveIn(dataDir, options);
  } finally {
    await removeEmbedded({ dataDir });
  }
}

async function proveIn(dataDir: string, options: ProveOptions): Promise<void> {
  const { signal } = options;
  const embedded = await startEmbedded({ dataDir });
  // Also ends a statement that takes long, such as creating an index or a check.
  const stop = () => void embedded.stop();
  signal?.addEventListener('abort', stop);
  try {
    signal?.throwIfAborted();
    const db = openDatabase(embedded.connection, { poolSize: 2, statementTimeoutMs: 0 });
    try {
      const load = (content: AsyncIterable<Uint8Array>) =>
        loadDatabase(db, content, {
          checkHeader: () => undefined,
          finish: async () => undefined,
          signal,
        });
      await readBack(options, load);
      await requireInvariants(db);
    } finally {
      await db.close();
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    await embedded.stop();
  }
}

/** Hands over the decrypted archive, and compares its SHA-256. */
async function readBack(
  { target, written, identity, signal }: ProveOptions,
  use: (content: AsyncIterable<Uint8Array>) => Promise<unknown>,
): Promise<void> {
  const hash = createHash('sha256');
  await use(decryptArchive(hashed(target.read(written.id), hash, signal), [identity]));
  if (hash.digest('hex') === written.sha256) return;
  throw new OperatorError('the stored archive has another SHA-256 than was written');
}

async function requireInvariants(db: Service['db']): Promise<void> {
  const broken = (await verify({ db })).filter((each) => each.broken > 0n);
  if (broken.length === 0) return;
  const names = broken.map(({ invariant }) => invariant.name).join(', ');
  throw new OperatorError(`the restored copy breaks ${names}; run skerryd verify`);
}

async function* hashed(
  content: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    signal?.throwIfAborted();
    hash.update(chunk);
    yield chunk;
  }
}

async function requireSpace(folder: string, databaseBytes: number): Promise<void> {
  const needed = databaseBytes * SPACE_FACTOR + GIB_BYTES;
  if ((await freeBytes(folder)) >= needed) return;
  const gib = Math.ceil(needed / GIB_BYTES);
  throw new OperatorError(`the backup was not proved: ${folder} needs ${gib} GiB of free space`);
}

/** A killed run leaves its copy of the data behind. Returns whether none is left. Call it in `runAlone`. */
export async function removeLeftovers(parent: string): Promise<boolean> {
  let areGone = true;
  for (const name of (await readdir(parent).catch(undefinedIfMissing)) ?? []) {
    if (!name.startsWith(PREFIX)) continue;
    if (!(await removeAbandoned({ dataDir: join(parent, name) }))) areGone = false;
  }
  return areGone;
}
