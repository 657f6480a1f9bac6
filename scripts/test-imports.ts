/**
 * Finds test files whose counts depend on the level: they import test/support/runs.ts, directly or through a
 * helper.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TEST = fileURLToPath(new URL('../test', import.meta.url));
const RUNS = join(TEST, 'support/runs.ts');

const known = new Map<string, boolean>();

export function hasLevels(file: string): boolean {
  const cached = known.get(file);
  if (cached !== undefined) return cached;
  // Prevents infinite recursion in an import cycle: a file that is being read adds nothing.
  known.set(file, false);
  const result = importsOf(file).some((path) => path === RUNS || (path.startsWith(TEST) && hasLevels(path)));
  known.set(file, result);
  return result;
}

function importsOf(file: string): string[] {
  // A test may contain the text of an import of a file that does not exist.
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return [...text.matchAll(/from '(\.[^']+\.ts)'/g)].map(([, specifier = '']) =>
    resolve(dirname(file), specifier),
  );
}
