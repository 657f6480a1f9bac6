/** Bases and segments in a folder: `skerry-<database>-base-<cluster>-…` and `…-wal-<cluster>-…`. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from '../../kernel/files.ts';
import type { WalArchive } from '../../ports/archives.ts';
import { DiskArchives } from './archives-on-disk.ts';

const BASE = /^skerry-([0-9a-f-]{36})-base-(\d+)-[0-9a-f-]{36}\.tar\.gz\.age$/;

export interface WalArchiveName {
  /** The incarnation of the database. */
  readonly database: string;
  /** The system identifier of PostgreSQL. */
  readonly cluster: string;
}

export function openWalArchive(folder: string, { database, cluster }: WalArchiveName): WalArchive {
  return {
    name: join(folder, `skerry-${database}-base-${cluster}`),
    cluster,
    bases: new DiskArchives({ folder, database: `${database}-base-${cluster}` }),
    segments: new DiskArchives({ folder, database: `${database}-wal-${cluster}` }),
  };
}

/** Lists what a folder has bases of. */
export async function listWalArchives(folder: string): Promise<WalArchiveName[]> {
  const found = new Map<string, WalArchiveName>();
  for (const name of (await readdir(folder).catch(undefinedIfMissing)) ?? []) {
    const [, database, cluster] = BASE.exec(name) ?? [];
    if (database !== undefined && cluster !== undefined)
      found.set(`${database} ${cluster}`, { database, cluster });
  }
  return [...found.values()];
}
