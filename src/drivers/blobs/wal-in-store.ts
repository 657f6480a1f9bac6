/**
 * Bases and segments as objects of the S3-compatible store: `skerry-bases-<database>-<cluster>/files/…` and
 * `skerry-wal-<database>-<cluster>/files/…`. There are few bases, so that a search for them is short.
 */
import type { WalArchive } from '../../ports/archives.ts';
import { StoredArchives } from './archives-in-store.ts';
import { S3Calls, type S3Options } from './s3-calls.ts';
import type { WalArchiveName } from './wal-on-disk.ts';

type StoreOptions = Omit<S3Options, 'prefix'>;

const BASES = 'skerry-bases';
const SEGMENTS = 'skerry-wal';
const BASE = /^skerry-bases-([0-9a-f-]{36})-(\d+)\/files\/[0-9a-f-]{36}$/;

/** `signal` ends what is under way. */
export function openStoredWal(
  options: StoreOptions,
  { database, cluster }: WalArchiveName,
  signal?: AbortSignal,
): WalArchive {
  const ending = signal === undefined ? {} : { signal };
  const open = (kind: string) =>
    new StoredArchives({ ...options, ...ending, prefix: `${kind}-${database}-${cluster}` });
  const name = `${options.url} ${options.bucket} ${BASES}-${database}-${cluster}`;
  return { name, cluster, bases: open(BASES), segments: open(SEGMENTS) };
}

/** Lists what the store has bases of. */
export async function listStoredWal(options: StoreOptions): Promise<WalArchiveName[]> {
  const found = new Map<string, WalArchiveName>();
  for await (const { name } of new S3Calls({ ...options, prefix: BASES }).list(`${BASES}-`)) {
    const [, database, cluster] = BASE.exec(name) ?? [];
    if (database !== undefined && cluster !== undefined)
      found.set(`${database} ${cluster}`, { database, cluster });
  }
  return [...found.values()];
}
