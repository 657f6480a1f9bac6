import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importEdges, readSources, type Tree, treeOf } from './tree.ts';

/** Returns each import cycle as its files in order, `a → b → a`. Type imports count. */
function findImportCycles(files: Tree): string[] {
  const targets = new Map([...files.keys()].map((path) => [path, new Set<string>()]));
  for (const edge of importEdges(files)) {
    if (edge.target !== null && files.has(edge.target)) targets.get(edge.from)?.add(edge.target);
  }
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return cycles;
}

test('the sources have no import cycle, types included', () => {
  assert.deepEqual(findImportCycles(readSources()), []);
});

test('a cycle through types and dynamic imports is found', () => {
  const files = treeOf({
    'src/start.ts': "import './a.ts';",
    'src/a.ts': "import { b } from './b.ts';",
    'src/b.ts': "import type { C } from './deep/c.ts';",
    'src/deep/c.ts': "const a = await import('../a.ts');",
  });
  assert.deepEqual(findImportCycles(files), ['src/a.ts → src/b.ts → src/deep/c.ts → src/a.ts']);
});

test('a file that imports itself is a cycle', () => {
  assert.deepEqual(findImportCycles(treeOf({ 'src/a.ts': "export * from './a.ts';" })), [
    'src/a.ts → src/a.ts',
  ]);
});

test('two paths to the same file are not a cycle', () => {
  const files = treeOf({
    'src/a.ts': "import './b.ts'; import './c.ts';",
    'src/b.ts': "import './d.ts';",
    'src/c.ts': "import './d.ts';",
    'src/d.ts': '',
  });
  assert.deepEqual(findImportCycles(files), []);
});
