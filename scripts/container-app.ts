/**
 * Copies what the service needs at run time to a new folder, for the container image: its sources, the files
 * that it reads, and the packages of `dependencies` with theirs, as the lock file has them. Run `npm ci`
 * first: `node scripts/container-app.ts FOLDER`.
 */
import { cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
}

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
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
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

/** Looks for a package as Node does: in `node_modules` next to its user, and then in each folder above. */
function resolve(packages: Readonly<Record<string, unknown>>, from: string, name: string): string {
  for (let folder = from; ; folder = folder === '' ? '.' : dirname(folder)) {
    if (folder === '.') folder = '';
    const path = join(folder, 'node_modules', name);
    if (path in packages) return path;
    if (folder === '')
      throw new Error(`${name}, which ${from || 'the service'} needs, is not in the lock file`);
  }
}
