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
 * ones before a migration. Versions that need other packages, or a stop, are left out.
 */
export function earlierVersions(limit: number): string[] {
  const newest = migrationsOf('HEAD');
  const log = git('log', '--first-parent', '--format=%H %P', '--', MIGRATIONS);
  const found: string[] = [];
  let count = newest.length;
  for (const [, parents = ''] of log.matchAll(/^\w+ (.*)$/gm)) {
    const [parent = ''] = parents.split(' ');
    if (found.length === limit || parent === '' || !needsSamePackages(parent)) break;
    const own = migrationsOf(parent);
    const isPart = own.length < count && own.every((migration, n) => migration === newest[n]);
    if (!isPart) continue;
    if (!newest.slice(own.length, count).every(isCompatible)) break;
    found.unshift(parent);
    count = own.length;
  }
  return found;
}

/** Why there is no earlier version to upgrade from; false if there is one. */
export function reasonForNoEarlierVersion(): string | false {
  try {
    return earlierVersions(1).length === 0 && 'the version before the newest migration needs a stop';
  } catch {
    return 'needs the history of the repository';
  }
}

/** Whether every package that the version needs is installed here, in the same release. */
function needsSamePackages(commit: string): boolean {
  const packagesOf = (of: string) =>
    (JSON.parse(git('show', `${of}:package.json`)) as { dependencies: Record<string, string> }).dependencies;
  const now = packagesOf('HEAD');
  return Object.entries(packagesOf(commit)).every(([name, version]) => now[name] === version);
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
