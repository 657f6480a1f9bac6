import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLocation, type ImportEdge, importEdges, readSources, type Tree, treeOf } from './tree.ts';

/**
 * The layers of the source tree. A layer may import itself and the layers in its row, types included.
 * `src/config….ts`, `src/main.ts`, and `src/compose…` are separate layers, and so is each of packages/*.
 */
const LAYERS: Record<string, readonly string[]> = {
  spec: [],
  kernel: ['spec'],
  ports: ['kernel', 'spec'],
  store: ['ports', 'kernel', 'spec'],
  domain: ['store', 'ports', 'kernel', 'spec'],
  workers: ['domain', 'store', 'ports', 'kernel', 'spec'],
  panel: ['spec'],
  http: ['panel', 'domain', 'ports', 'kernel', 'spec'],
  drivers: ['ports', 'kernel', 'spec'],
  config: ['kernel', 'spec'],
  operator: ['config', 'domain', 'store', 'ports', 'kernel', 'spec'],
  compose: [
    'operator',
    'config',
    'drivers',
    'http',
    'panel',
    'workers',
    'domain',
    'store',
    'ports',
    'kernel',
    'spec',
  ],
  main: [
    'compose',
    'operator',
    'config',
    'drivers',
    'http',
    'workers',
    'domain',
    'store',
    'ports',
    'kernel',
    'spec',
  ],
  sdk: [],
  cli: [],
};

/** The packages that each of packages/* is installed with, and may import. The SDK also runs in browsers. */
const ALLOWED_PACKAGES: Record<string, RegExp> = {
  sdk: /^(?:openapi-fetch|eventsource-parser)$/,
  cli: /^(?:@skerry\/sdk|commander|yaml|uqr|node:.+)$/,
};

/**
 * Packages that belong to one layer: only the store talks to the database, and only http talks to clients.
 */
const PACKAGE_LAYERS: Record<string, string> = { pg: 'store', kysely: 'store', fastify: 'http' };

const COMPOSITION_LAYERS = new Set(['compose', 'main']);

function layerOf(path: string): string | undefined {
  const name = /^src\/(?:(compose|config|main)(?:-[^/]*)?\.ts$|([^/]+)\/)|^packages\/([^/]+)\/src\//.exec(
    path,
  );
  const layer = name?.[1] ?? name?.[2] ?? name?.[3];
  return layer !== undefined && Object.hasOwn(LAYERS, layer) ? layer : undefined;
}

function findViolations(files: Tree): string[] {
  const inside = [...files.keys()].filter((path) => /^(?:src|packages)\//.test(path));
  const unlayered = inside.filter((path) => layerOf(path) === undefined);
  return [
    ...unlayered.map((path) => `${path}: does not belong to a layer`),
    ...importEdges(files).flatMap((edge) => {
      const layer = layerOf(edge.from);
      const violation =
        layer === undefined ? null : (layerViolation(layer, edge) ?? packageViolation(layer, edge));
      return violation === null ? [] : [`${formatLocation(edge)}: ${violation}`];
    }),
  ];
}

function layerViolation(layer: string, { target }: ImportEdge): string | null {
  if (target === null) return null;
  const other = layerOf(target);
  if (other === undefined) return `${layer} may not import ${target}, which does not belong to a layer`;
  return other === layer || LAYERS[layer]?.includes(other) ? null : `${layer} may not import ${target}`;
}

function packageViolation(layer: string, { from, specifier, target }: ImportEdge): string | null {
  if (target !== null || specifier === null) return null;
  const installed = ALLOWED_PACKAGES[layer];
  if (installed) return installed.test(specifier) ? null : `${layer} is installed without ${specifier}`;
  const name = specifier.split('/')[0] ?? '';
  if (layer === 'spec' && !(name === 'typebox' && from.startsWith('src/spec/schemas/'))) {
    return `spec contains only tables and may not import ${specifier}`;
  }
  if (name === '@skerry') return `the service may not import ${specifier}`;
  const home = PACKAGE_LAYERS[name];
  const allowed = home === undefined || home === layer || COMPOSITION_LAYERS.has(layer);
  return allowed ? null : `${specifier} belongs to ${home}, and ${layer} may not import it`;
}

test('no file imports a layer that it may not use', () => {
  assert.deepEqual(findViolations(readSources()), []);
});

for (const [from, to] of [
  ['src/spec/a.ts', 'kernel/b.ts'],
  ['src/kernel/a.ts', 'ports/b.ts'],
  ['src/ports/a.ts', 'store/b.ts'],
  ['src/store/a.ts', 'domain/b.ts'],
  ['src/domain/a.ts', 'workers/b.ts'],
  ['src/domain/a.ts', 'http/b.ts'],
  ['src/domain/a.ts', 'drivers/b.ts'],
  ['src/workers/a.ts', 'http/b.ts'],
  ['src/workers/a.ts', 'drivers/b.ts'],
  ['src/http/a.ts', 'store/b.ts'],
  ['src/http/a.ts', 'drivers/b.ts'],
  ['src/http/a.ts', 'workers/b.ts'],
  ['src/panel/a.ts', 'kernel/b.ts'],
  ['src/drivers/a.ts', 'store/b.ts'],
  ['src/drivers/a.ts', 'domain/b.ts'],
  ['src/operator/a.ts', 'http/b.ts'],
  ['src/operator/a.ts', 'drivers/b.ts'],
  ['src/kernel/a.ts', 'config.ts'],
  ['src/http/a.ts', 'config.ts'],
  ['src/http/a.ts', 'config-values.ts'],
  ['src/operator/a.ts', 'main.ts'],
  ['src/http/a.ts', 'compose.ts'],
  ['src/http/a.ts', 'compose-workers.ts'],
  ['src/domain/a.ts', 'compose/world.ts'],
  ['src/compose.ts', 'main.ts'],
  ['src/domain/a.ts', '../test/support/b.ts'],
  ['src/domain/a.ts', '../packages/sdk/src/b.ts'],
  ['src/main.ts', '../packages/cli/src/b.ts'],
  ['packages/sdk/src/a.ts', '../../src/spec/b.ts'],
  ['packages/sdk/src/a.ts', '../cli/src/b.ts'],
  ['packages/cli/src/a.ts', '../sdk/src/b.ts'],
  ['packages/cli/src/a.ts', '../../src/spec/b.ts'],
] as const) {
  const specifier = `${from.startsWith('src/') && from.split('/').length === 2 ? './' : '../'}${to}`;
  test(`${from} may not import ${specifier}, not even as a type`, () => {
    for (const clause of ['{ b }', 'type { B }']) {
      assert.equal(findViolations(treeOf({ [from]: `import ${clause} from '${specifier}';` })).length, 1);
    }
  });
}

test('a package imports only its dependencies, and the SDK no part of Node', () => {
  const importing = (path: string, name: string) =>
    findViolations(treeOf({ [path]: `import a from '${name}';` }));
  for (const name of ['node:fs', '@skerry/cli', 'commander', 'pino', 'openapi-fetch/deep']) {
    assert.equal(importing('packages/sdk/src/a.ts', name).length, 1, name);
  }
  for (const name of ['openapi-fetch', '@skerry/sdk/dist/transport.js', 'pino']) {
    assert.equal(importing('packages/cli/src/a.ts', name).length, 1, name);
  }
  assert.deepEqual(importing('packages/sdk/src/resources/a.ts', 'openapi-fetch'), []);
  for (const name of ['@skerry/sdk', 'commander', 'yaml', 'uqr', 'node:fs/promises']) {
    assert.deepEqual(importing('packages/cli/src/a.ts', name), [], name);
  }
  assert.equal(importing('src/domain/a.ts', '@skerry/sdk').length, 1);
});

test('a file outside every layer is a fault', () => {
  assert.equal(findViolations(treeOf({ 'packages/cellar/src/a.ts': '' })).length, 1);
  assert.equal(findViolations(treeOf({ 'src/stray.ts': '' })).length, 1);
  assert.equal(findViolations(treeOf({ 'src/cellar/a.ts': '' })).length, 1);
});

test('the rule tables import nothing but the schema builder', () => {
  const importing = (path: string, name: string) =>
    findViolations(treeOf({ [path]: `import a from '${name}';` }));
  assert.equal(importing('src/spec/limits.ts', 'node:fs').length, 1);
  assert.equal(importing('src/spec/limits.ts', 'typebox').length, 1);
  assert.equal(importing('src/spec/schemas/server.ts', 'pino').length, 1);
  assert.deepEqual(importing('src/spec/schemas/server.ts', 'typebox'), []);
});

test('only the store imports the database client, and only http the web framework', () => {
  const importing = (path: string, name: string) =>
    findViolations(treeOf({ [path]: `import a from '${name}';` }));
  assert.equal(importing('src/domain/a.ts', 'pg').length, 1);
  assert.equal(importing('src/operator/a.ts', 'fastify').length, 1);
  assert.deepEqual(importing('src/store/db.ts', 'pg'), []);
});

test('the composition layers may import every layer', () => {
  const source = "import a from './http/a.ts'; import b from './drivers/b.ts'; import c from './store/c.ts';";
  assert.deepEqual(findViolations(treeOf({ 'src/main.ts': source, 'src/compose.ts': source })), []);
});
