/**
 * Programs that a test needs on the machine. When CI is true nothing is skipped: a missing program fails its
 * tests.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the path of the first of these programs that exists in the folders of PATH. */
export function findProgram(names: readonly string[]): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin'];
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the reason to skip tests that need the program, or false. */
export function skipUnlessInstalled(path: string | null, notInstalled: string): string | false {
  return path === null && process.env.CI !== 'true' ? notInstalled : false;
}
