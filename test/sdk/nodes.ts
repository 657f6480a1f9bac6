/**
 * Installed versions of Node by major version: the running one, those in PATH, and those in
 * SKERRY_TEST_NODES.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { skipUnlessInstalled } from '../support/installed-programs.ts';

const folders = (process.env.PATH ?? '').split(delimiter);
const named = (process.env.SKERRY_TEST_NODES ?? '').split(delimiter).filter((path) => path !== '');
const candidates = [process.execPath, ...named, ...folders.map((folder) => join(folder, 'node'))];

const found = new Map<number, string>();
for (const path of new Set(candidates)) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  const major = status === 0 ? Number(/^v(\d+)\./.exec(stdout)?.[1]) : Number.NaN;
  if (major > 0 && !found.has(major)) found.set(major, path);
}

export interface TestNode {
  readonly major: number;
  readonly path: string | null;
  /** The reason to skip tests that need it, or false. */
  readonly missing: string | false;
}

/** The versions that the packages support. */
export const NODES: readonly TestNode[] = [20, 22, 24].map((major) => {
  const path = found.get(major) ?? null;
  return {
    major,
    path,
    missing: skipUnlessInstalled(path, `Node ${major} is not installed; add its path to SKERRY_TEST_NODES`),
  };
});
