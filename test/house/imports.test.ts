import assert from 'node:assert/strict';
import { isBuiltin } from 'node:module';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import cli from '../../packages/cli/package.json' with { type: 'json' };
import sdk from '../../packages/sdk/package.json' with { type: 'json' };
import { formatLocation, type ImportEdge, importEdges, readSources, type Tree, treeOf } from './tree.ts';

const RUNTIME_DEPENDENCIES = new Set(
  Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }),
);
const ALL_DEPENDENCIES = new Set([
  ...RUNTIME_DEPENDENCIES,
  ...Object.keys(manifest.devDependencies),
  sdk.name,
  cli.name,
]);
/** Packages that declare their own dependencies; those of the root package.json do not count for them. */
const PACKAGE_DEPENDENCIES: Record<string, ReadonlySet<string>> = {
  'packages/sdk/': new Set(Object.keys(sdk.dependencies)),
  'packages/cli/': new Set(Object.keys(cli.dependencies)),
};

function findViolations(files: Tree): string[] {
  return importEdges(files).flatMap((edge) => {
    const violation = violationOf(edge, files);
    return violation === null ? [] : [`${formatLocation(edge)}: ${violation}`];
  });
}

function violationOf(edge: ImportEdge, files: Tree): string | null {
  if (edge.specifier === null) {
    return /^(?:src|packages)\//.test(edge.from) ? 'is a computed import, which cannot be checked' : null;
  }
  const violation =
    edge.target === null
      ? packageViolation(edge.from, edge.specifier)
      : relativeViolation(edge.target, files);
  return violation === null ? null : `'${edge.specifier}' ${violation}`;
}

function relativeViolation(target: string, files: Tree): string | null {
  if (/^(?:packages\/\w+\/)?package\.json$/.test(target)) return null;
  if (!target.endsWith('.ts')) return 'does not end in .ts';
  return files.has(target) ? null : 'is not a file of the project';
}

function packageViolation(from: string, specifier: string): string | null {
  if (specifier.startsWith('node:')) return isBuiltin(specifier) ? null : 'is not part of Node';
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const shipped = Object.entries(PACKAGE_DEPENDENCIES).find(([folder]) => from.startsWith(folder))?.[1];
  if (shipped) return shipped.has(name) ? null : 'is not in the package.json of its package';
  if (from.startsWith('src/')) {
    return RUNTIME_DEPENDENCIES.has(name) ? null : 'is not among the dependencies in package.json';
  }
  return ALL_DEPENDENCIES.has(name) ? null : 'is not in package.json';
}

test('every import resolves to a .ts file, a part of Node, or a declared package', () => {
  assert.deepEqual(findViolations(readSources()), []);
});

for (const [name, specifier, path] of [
  ['an import without a file extension', './b', 'src/a.ts'],
  ['an import with the extension of compiled code', './b.js', 'src/a.ts'],
  ['an import of a missing file', './missing.ts', 'src/a.ts'],
  ['an import of a missing file outside src', '../src/missing.ts', 'test/a.test.ts'],
  ['an import of a folder', '.', 'src/a.ts'],
  ['an import of a Node module without its prefix', 'fs', 'src/a.ts'],
  ['an import of an unknown Node module', 'node:nothing', 'src/a.ts'],
  ['an import of an undeclared package', 'undeclared/deep', 'src/a.ts'],
  ['an import of an undeclared scoped package', '@undeclared/package', 'test/a.test.ts'],
  ['an import of a development package in the service', 'fast-check', 'src/a.ts'],
  ['an import of a service dependency in the CLI', 'pino', 'packages/cli/src/a.ts'],
] as const) {
  test(`${name} is a fault in every form`, () => {
    for (const source of [
      `import { b } from '${specifier}';`,
      `import type { B } from '${specifier}';`,
      `export * from '${specifier}';`,
      `await import('${specifier}');`,
    ]) {
      assert.equal(findViolations(treeOf({ [path]: source, 'src/b.ts': '' })).length, 1, source);
    }
  });
}

test('a computed import is a fault in the service but not in tests', () => {
  assert.equal(findViolations(treeOf({ 'src/a.ts': 'await import(name);' })).length, 1);
  assert.deepEqual(findViolations(treeOf({ 'test/a.ts': 'await import(name);' })), []);
});

test('tests may use development packages', () => {
  assert.deepEqual(findViolations(treeOf({ 'test/a.test.ts': "import fc from 'fast-check';" })), []);
});
