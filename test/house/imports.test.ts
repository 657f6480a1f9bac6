import assert from 'node:assert/strict';
import { isBuiltin } from 'node:module';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import cli from '../../packages/cli/package.json' with { type: 'json' };
import sdk from '../../packages/sdk/package.json' with { type: 'json' };
import { type Edge, edgesOf, place, sources, type Tree, tree } from './tree.ts';

const SERVED = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
const DEVELOPED = new Set([...SERVED, ...Object.keys(manifest.devDependencies), sdk.name, cli.name]);
/** Where nothing of the project's own package.json counts. */
const SHIPPED: Record<string, ReadonlySet<string>> = {
  'packages/sdk/': new Set(Object.keys(sdk.dependencies)),
  'packages/cli/': new Set(Object.keys(cli.dependencies)),
};

function faultsOf(files: Tree): string[] {
  return edgesOf(files).flatMap((edge) => {
    const fault = faultOf(edge, files);
    return fault === null ? [] : [`${place(edge)}: ${fault}`];
  });
}

function faultOf(edge: Edge, files: Tree): string | null {
  if (edge.specifier === null) {
    return /^(?:src|packages)\//.test(edge.from)
      ? 'a computed import: nothing can check where it leads'
      : null;
  }
  const fault =
    edge.target === null ? bareFault(edge.from, edge.specifier) : relativeFault(edge.target, files);
  return fault === null ? null : `'${edge.specifier}' ${fault}`;
}

function relativeFault(target: string, files: Tree): string | null {
  if (/^(?:packages\/\w+\/)?package\.json$/.test(target)) return null;
  if (!target.endsWith('.ts')) return 'does not end in .ts';
  return files.has(target) ? null : 'is no file of the project';
}

function bareFault(from: string, specifier: string): string | null {
  if (specifier.startsWith('node:')) return isBuiltin(specifier) ? null : 'is not part of Node';
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const shipped = Object.entries(SHIPPED).find(([folder]) => from.startsWith(folder))?.[1];
  if (shipped) return shipped.has(name) ? null : 'is not in the package.json of its package';
  if (from.startsWith('src/')) {
    return SERVED.has(name) ? null : 'is not among the dependencies in package.json';
  }
  return DEVELOPED.has(name) ? null : 'is not in package.json';
}

test('every import resolves: a .ts file, a part of Node or a declared package', () => {
  assert.deepEqual(faultsOf(sources()), []);
});

for (const [what, specifier, path] of [
  ['a file without its suffix', './b', 'src/a.ts'],
  ['a file with the suffix of compiled code', './b.js', 'src/a.ts'],
  ['a missing file', './missing.ts', 'src/a.ts'],
  ['a missing file outside src', '../src/missing.ts', 'test/a.test.ts'],
  ['a folder', '.', 'src/a.ts'],
  ['a part of Node without its prefix', 'fs', 'src/a.ts'],
  ['a part that Node does not have', 'node:nothing', 'src/a.ts'],
  ['an undeclared package', 'undeclared/deep', 'src/a.ts'],
  ['an undeclared scoped package', '@undeclared/package', 'test/a.test.ts'],
  ['a development package in the service', 'fast-check', 'src/a.ts'],
  ['a package of the service in another one', 'pino', 'packages/cli/src/a.ts'],
] as const) {
  test(`${what} is a fault, in every kind of import`, () => {
    for (const source of [
      `import { b } from '${specifier}';`,
      `import type { B } from '${specifier}';`,
      `export * from '${specifier}';`,
      `await import('${specifier}');`,
    ]) {
      assert.equal(faultsOf(tree({ [path]: source, 'src/b.ts': '' })).length, 1, source);
    }
  });
}

test('a computed import is a fault in the service', () => {
  assert.equal(faultsOf(tree({ 'src/a.ts': 'await import(name);' })).length, 1);
  assert.deepEqual(faultsOf(tree({ 'test/a.ts': 'await import(name);' })), []);
});

test('a development package may be used by tests', () => {
  assert.deepEqual(faultsOf(tree({ 'test/a.test.ts': "import fc from 'fast-check';" })), []);
});
