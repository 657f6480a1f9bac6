/** Databases of earlier versions, for tests of a migration. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { OpenDatabase } from '../../src/store/db.ts';
import { migrate, migrationFiles } from '../../src/store/migrate.ts';

const FOLDER = new URL('../../src/store/migrations/', import.meta.url);

/** Runs the migrations before this one. */
export async function migrateBefore(db: OpenDatabase, migration: string): Promise<void> {
  const earlier = await mkdtemp(join(tmpdir(), 'skerry-migrations-'));
  try {
    for (const { name } of migrationFiles()) {
      if (name >= migration) continue;
      await copyFile(fileURLToPath(new URL(`${name}.sql`, FOLDER)), join(earlier, `${name}.sql`));
    }
    await migrate(db, { folder: pathToFileURL(`${earlier}/`) });
  } finally {
    await rm(earlier, { recursive: true });
  }
}
