/** Reads package-lock.json. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  /** Only tools of developers use it. */
  readonly dev?: boolean;
  /** A link to a package of ours. */
  readonly link?: boolean;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Packages by their place: `''` for the project, `node_modules/a/node_modules/b` for others. */
export type Lock = Readonly<Record<string, LockedPackage>>;

export function readLock(root: string): Lock {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Lock;
  };
  return lock.packages;
}

export function packageName(lock: Lock, place: string): string {
  return lock[place]?.name ?? place.replace(/^.*node_modules\//, '');
}

/**
 * Returns the place of a package, or null. Looks as Node does: in `node_modules` next to its user, and then
 * in each folder above.
 */
export function findPackage(lock: Lock, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder === '' ? '.' : dirname(folder)) {
    if (folder === '.') folder = '';
    const place = join(folder, 'node_modules', name);
    if (place in lock) return place;
    if (folder === '') return null;
  }
}
