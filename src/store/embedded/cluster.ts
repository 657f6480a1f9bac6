/** The cluster: created atomically, owned by its user, and refused if another major version created it. */
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../kernel/files.ts';
import { type Binaries, MAJOR_VERSION } from './binaries.ts';
import { findErrorLine, run } from './child.ts';
import { exists } from './files.ts';
import { chownToDatabaseUser, type Home } from './home.ts';
import type { Lock } from './lock.ts';

/** The superuser and the database in every cluster. */
export const DATABASE = { user: 'skerry', database: 'skerry' } as const;

/** Ensures a cluster that this PostgreSQL can start. Only for the holder of the lock. */
export async function prepareCluster(home: Home, binaries: Binaries, lock: Lock): Promise<void> {
  if (!(await exists(home.cluster))) await createCluster(home, binaries, lock);
  await chownToDatabaseUser(home, home.cluster);
  const version = (
    await readFile(join(home.cluster, 'PG_VERSION'), 'utf8').catch(() => 'an unknown version')
  ).trim();
  if (version !== MAJOR_VERSION) {
    throw new Error(
      `the database in ${home.cluster} was created by PostgreSQL ${version}, but this release runs ` +
        `${MAJOR_VERSION}; start the release that created it, or set SKERRY_DATA_DIR to another directory`,
    );
  }
}

/**
 * Creates the cluster under a temporary name, syncs it and renames it: a kill leaves only the draft, which
 * the next start removes. The programs inherit the lock, so that start waits for them. Nothing is synced
 * before the single sync at the end, which makes it fast.
 */
async function createCluster(home: Home, binaries: Binaries, lock: Lock): Promise<void> {
  const draft = `${home.cluster}.draft`;
  await rm(draft, { recursive: true, force: true });
  await chownToDatabaseUser(home, draft);
  const step = async (program: string, args: string[], input = ''): Promise<void> => {
    const { code, output } = await run(program, args, {
      user: home.user,
      input,
      descriptor: lock.descriptor,
    });
    if (code !== 0) throw new Error(`cannot create a database in ${home.folder}: ${findErrorLine(output)}`);
  };
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8'];
  const access = ['--auth=trust', '-U', DATABASE.user];
  await step(binaries.initdb, ['-D', draft, ...locale, ...access, '--no-instructions', '--no-sync']);
  const settings = ['-c', 'fsync=off', '-c', 'exit_on_error=on', '-c', 'log_checkpoints=off'];
  await step(
    binaries.postgres,
    ['--single', '-D', draft, ...settings, 'postgres'],
    `CREATE DATABASE ${DATABASE.database} STRATEGY FILE_COPY;\n`,
  );
  await step(binaries.initdb, ['-D', draft, '--sync-only']);
  await rename(draft, home.cluster);
  await syncPath(home.folder);
}
