/**
 * Scratch copies of the database in the data folder, in which a backup or a base proves that it can be
 * restored. The database's own server has no part in it. The copy is not encrypted, and is always deleted.
 */
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytes, undefinedIfMissing } from '../../kernel/files.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import { BlobMissingError, BlobStoreError } from '../../ports/blobs.ts';
import { type OpenDatabase, openDatabase } from '../../store/db.ts';
import { removeAbandoned, removeEmbedded, startEmbedded } from '../../store/embedded/index.ts';
import { verify } from '../verify/verify.ts';

/** The sources of copies. One process at a time makes one (`runAlone`), or two could fill the disk. */
type Kind = 'backup' | 'base';

const LEFTOVER = /^(?:backup|base)-check-/;

interface ScratchOptions {
  readonly kind: Kind;
  /** The data folder. */
  readonly parent: string;
  readonly neededBytes: number;
}

/** Runs `work` in an empty folder, and deletes the folder afterward. */
export async function inScratchFolder(
  { kind, parent, neededBytes }: ScratchOptions,
  work: (dataDir: string) => Promise<void>,
): Promise<void> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const needed = neededBytes + GIB_BYTES;
  if ((await freeBytes(parent)) < needed) {
    const gib = Math.ceil(needed / GIB_BYTES);
    throw new OperatorError(`the ${kind} was not proved: ${parent} needs ${gib} GiB of free space`);
  }
  const dataDir = await mkdtemp(join(parent, `${kind}-check-`));
  try {
    await work(dataDir);
  } finally {
    await removeEmbedded({ dataDir });
  }
}

/** Starts PostgreSQL in a scratch folder, runs `work`, and stops it. An abort ends it at once. */
export async function withScratchDatabase(
  options: { readonly dataDir: string; readonly replay?: { readonly until: null } },
  signal: AbortSignal | undefined,
  work: (db: OpenDatabase) => Promise<void>,
): Promise<void> {
  const embedded = await startEmbedded({ ...options, signal }).catch((error: Error) => {
    signal?.throwIfAborted();
    // One line, without data of customers.
    throw error instanceof OperatorError ? error : new OperatorError(`its copy failed: ${error.message}`);
  });
  // Also ends a statement that takes long, such as creating an index or a check.
  const stop = () => void embedded.stop();
  signal?.addEventListener('abort', stop);
  try {
    signal?.throwIfAborted();
    const db = openDatabase(embedded.connection, { poolSize: 2, statementTimeoutMs: 0 });
    try {
      await work(db);
    } finally {
      await db.close();
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    await embedded.stop();
  }
}

/** Checks every invariant of `skerryd verify`. */
export async function requireInvariants(db: OpenDatabase): Promise<void> {
  const broken = (await verify({ db })).filter((each) => each.broken > 0n);
  if (broken.length === 0) return;
  const names = broken.map(({ invariant }) => invariant.name).join(', ');
  throw new OperatorError(`the restored copy breaks ${names}; run skerryd verify`);
}

/** Messages of our own, and codes of the system. Others could quote data. */
export function describeFailure(error: unknown): string {
  if (error instanceof OperatorError || error instanceof BlobStoreError || error instanceof BlobMissingError)
    return error.message;
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return `unexpected error ${typeof code === 'string' ? code : String(name)}`;
}

/** A killed run leaves its copy behind. Returns whether none is left. Call it in `runAlone`. */
export async function removeLeftovers(parent: string): Promise<boolean> {
  let areGone = true;
  for (const name of (await readdir(parent).catch(undefinedIfMissing)) ?? []) {
    if (!LEFTOVER.test(name)) continue;
    if (!(await removeAbandoned({ dataDir: join(parent, name) }))) areGone = false;
  }
  return areGone;
}
