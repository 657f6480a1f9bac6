/** Programs of the machine that a test needs. Where CI is true nothing skips: what is missing fails the test that wants it. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of the first program that there is, in the folders of PATH. */
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

/** Why tests that need it are skipped, or false. */
export function skipUnlessInstalled(path: string | null, notInstalled: string): string | false {
  return path === null && process.env.CI !== 'true' ? notInstalled : false;
}
