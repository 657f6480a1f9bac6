/**
 * Copies what the service needs at run time to a new folder, for the container image: its sources, the files
 * that it reads, and the packages of `dependencies` with theirs, as the lock file has them. Run `npm ci`
 * first: `node scripts/container-app.ts FOLDER`.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPackage, type Lock, readLock } from './lock-file.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILES = [
  ...['package.json', 'LICENSE', 'NOTICE', 'src', 'catalogue/sandbox.yaml', 'openapi/samples.json'],
  ...['docs/customers', 'docs/api-changelog.md', 'deploy/container/ready.js'],
];
/** Optional, because each platform has its own. */
const PLATFORM_PACKAGE = `@resvg/resvg-js-linux-${process.arch}-gnu`;
/** Parts of packages for compilers and debuggers. */
const UNUSED = /\.(?:d\.[cm]?ts|map)$/;

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: node scripts/container-app.ts FOLDER');
for (const file of FILES) cpSync(join(ROOT, file), join(target, file), { recursive: true });
for (const path of findRuntimePackages()) {
  const nested = join(ROOT, path, 'node_modules');
  cpSync(join(ROOT, path), join(target, path), {
    recursive: true,
    filter: (source) => !source.startsWith(nested) && !UNUSED.test(source),
  });
}

/** Returns the folders of the packages, relative to the root. */
function findRuntimePackages(): ReadonlySet<string> {
  const packages = readLock(ROOT);
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) visit(resolve(packages, path, name));
  };
  for (const name of Object.keys(packages['']?.dependencies ?? {})) visit(resolve(packages, '', name));
  visit(resolve(packages, '', PLATFORM_PACKAGE));
  return found;
}

function resolve(lock: Lock, from: string, name: string): string {
  const place = findPackage(lock, from, name);
  if (place === null)
    throw new Error(`${name}, which ${from || 'the service'} needs, is not in the lock file`);
  return place;
}
