/** The project's files, for tests that read them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** File text by path. A path is relative to the project root, without a leading slash. */
export type Tree = ReadonlyMap<string, string>;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GENERATED = /(?:^|\/)(?:node_modules|data|coverage|dist|\.git)(?:\/|$)/;

/** Returns every TypeScript file of the project. */
export function readSources(): Tree {
  return readTree(
    ['src', 'packages', 'integrations', 'test', 'bench', 'scripts', 'docs', 'examples'],
    /\.ts$/,
  );
}

/**
 * Returns the files under `roots` whose path matches `pattern`. A root is a folder or a file and may be
 * missing.
 */
export function readTree(roots: readonly string[], pattern: RegExp): Tree {
  const tree = new Map<string, string>();
  for (const path of roots.flatMap(listFiles)) {
    if (pattern.test(path)) tree.set(path, readFileSync(ROOT + path, 'utf8'));
  }
  return tree;
}

function listFiles(root: string): string[] {
  const stats = statSync(ROOT + root, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (stats.isFile()) return [root];
  const entries = readdirSync(ROOT + root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath.slice(ROOT.length), entry.name))
    .filter((path) => !GENERATED.test(path))
    .sort();
}
