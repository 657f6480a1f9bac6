/**
 * Proves a backup: reads the stored archive back, decrypts it with the identity of this run, restores it into
 * a scratch PostgreSQL in the data folder, and checks every invariant of `skerryd verify` there. The
 * database's own server has no part in it, so this works for any database.
 */
import { createHash } from 'node:crypto';
import { decryptArchive } from '../../../kernel/crypt/age.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { ArchiveStore } from '../../../ports/archives.ts';
import { checkDump } from '../../../store/dump/check.ts';
import { loadDatabase } from '../../../store/dump/load.ts';
import { type BackupRow, readDatabaseBytes } from '../../../store/service/backups.ts';
import type { Service } from '../../context.ts';
import { inScratchFolder, requireInvariants, withScratchDatabase } from '../scratch.ts';

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
  const { scratchFolder: parent, signal } = options;
  if (parent === null) {
    await readBack(options, checkDump);
    return;
  }
  const neededBytes = (await readDatabaseBytes(db)) * SPACE_FACTOR;
  await inScratchFolder({ kind: 'backup', parent, neededBytes }, async (dataDir) => {
    await withScratchDatabase({ dataDir }, signal, async (scratch) => {
      const load = (content: AsyncIterable<Uint8Array>) =>
        loadDatabase(scratch, content, {
          checkHeader: () => undefined,
          finish: async () => undefined,
          signal,
        });
      await readBack(options, load);
      await requireInvariants(scratch);
    });
  });
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
