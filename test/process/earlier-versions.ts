/** Earlier versions of Skerry from the history of its repository, for upgrades between real versions. */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MIGRATIONS = 'src/store/migrations';
/** The files of a version. It shares its packages and everything else with this one. */
const OWN_FOLDERS = ['bin', 'src'];

function git(...args: string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** Returns each migration of a commit, with the hash of its text, in order. */
function migrationsOf(commit: string): readonly string[] {
  const lines = git('ls-tree', '-r', commit, '--', MIGRATIONS).trim().split('\n');
  return lines.filter((line) => line.endsWith('.sql')).map((line) => line.split(/\s+/).slice(2).join(' '));
}

function isCompatible(migration: string): boolean {
  const [blob = ''] = migration.split(' ');
  return git('cat-file', 'blob', blob).startsWith('-- Compatible');
}

/**
 * Returns commits, oldest first, that can be upgraded one by one to this version while they run: the last
 * ones before a migration. Empty in a tree without history.
 */
export function earlierVersions(limit: number): string[] {
  let newest: readonly string[];
  let changes: string[];
  try {
    newest = migrationsOf('HEAD');
    changes = git('log', '--first-parent', '--format=%H', '--', MIGRATIONS).trim().split('\n');
  } catch {
    return [];
  }
  const found: string[] = [];
  let count = newest.length;
  for (const change of changes) {
    if (found.length === limit) break;
    const commit = `${change}^`;
    const own = migrationsOf(commit);
    const isPart = own.length < count && own.every((migration, n) => migration === newest[n]);
    if (!isPart) continue;
    if (!newest.slice(own.length, count).every(isCompatible)) break;
    found.unshift(commit);
    count = own.length;
  }
  return found;
}

/** Creates the folder of a version whose own files `fill` brings. */
export async function linkVersion(folder: string, fill: (folder: string) => Promise<void>): Promise<string> {
  await mkdir(folder);
  for (const name of await readdir(ROOT)) {
    if (!OWN_FOLDERS.includes(name)) await symlink(join(ROOT, name), join(folder, name));
  }
  await fill(folder);
  return folder;
}

export async function copyThisVersion(folder: string): Promise<void> {
  for (const name of OWN_FOLDERS) await cp(join(ROOT, name), join(folder, name), { recursive: true });
}

export async function extractVersion(folder: string, commit: string): Promise<void> {
  const archive = join(folder, 'version.tar');
  git('archive', `--output=${archive}`, commit, '--', ...OWN_FOLDERS);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
}
