import assert from 'node:assert/strict';
import { isBuiltin } from 'node:module';
import { test } from 'node:test';
import pulumi from '../../integrations/pulumi/package.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import cli from '../../packages/cli/package.json' with { type: 'json' };
import sdk from '../../packages/sdk/package.json' with { type: 'json' };
import { readSources } from '../support/project-files.ts';
import { formatLocation, type ImportEdge, importEdges } from './import-edges.ts';

/**
 * The layers of the source tree. A layer may import itself and the layers in its row, types included.
 * `src/config….ts`, `src/main.ts`, and `src/compose…` are separate layers, and so is each of packages/* and
 * integrations/*.
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
  pulumi: [],
};

/** The packages that each of these is installed with, and may import. The SDK also runs in browsers. */
const ALLOWED_PACKAGES: Record<string, RegExp> = {
  sdk: new RegExp(`^(?:${Object.keys(sdk.dependencies).join('|')})$`),
  cli: new RegExp(`^(?:(?:${Object.keys(cli.dependencies).join('|')})(?:/.+)?|node:.+)$`),
  pulumi: new RegExp(`^(?:${Object.keys(pulumi.dependencies).join('|')}|node:.+)$`),
};

/**
 * Packages that belong to one layer: only the store talks to the database, and only http talks to clients.
 */
const PACKAGE_LAYERS: Record<string, string> = {
  pg: 'store',
  'pg-copy-streams': 'store',
  kysely: 'store',
  fastify: 'http',
};
const COMPOSITION_LAYERS = new Set(['compose', 'main']);

const RUNTIME_PACKAGES = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
const ALL_PACKAGES = new Set([
  ...RUNTIME_PACKAGES,
  ...Object.keys(manifest.devDependencies),
  // Tests drive the CLI's MCP server and the Pulumi provider with clients of the same packages.
  '@modelcontextprotocol/sdk',
  '@grpc/grpc-js',
  sdk.name,
  cli.name,
]);

const FILES = readSources();
const EDGES = importEdges(FILES);

function faults(rule: (edge: ImportEdge) => string | null): string[] {
  return EDGES.flatMap((edge) => {
    const fault = rule(edge);
    return fault === null
      ? []
      : [`${formatLocation(edge)}: ${edge.specifier ?? 'a computed import'} ${fault}`];
  });
}

function layerOf(path: string): string | undefined {
  const match = /^src\/(?:(compose|config|main)(?:-[^/]*)?\.ts$|([^/]+)\/)/.exec(path);
  const [, ofPackage] = /^(?:packages|integrations)\/([^/]+)\/src\//.exec(path) ?? [];
  const layer = match?.[1] ?? match?.[2] ?? ofPackage;
  return layer !== undefined && Object.hasOwn(LAYERS, layer) ? layer : undefined;
}

function layerFault({ from, target }: ImportEdge): string | null {
  const layer = layerOf(from);
  if (layer === undefined || target === null) return null;
  const other = layerOf(target);
  if (other === undefined) return 'does not belong to a layer';
  return other === layer || LAYERS[layer]?.includes(other)
    ? null
    : `is in a layer that ${layer} may not import`;
}

function packageFault({ from, specifier, target }: ImportEdge): string | null {
  const layer = layerOf(from);
  if (layer === undefined || target !== null || specifier === null) return null;
  const installed = ALLOWED_PACKAGES[layer];
  if (installed) return installed.test(specifier) ? null : `is not installed with ${layer}`;
  const name = packageName(specifier);
  if (layer === 'spec' && !(name === 'typebox' && from.startsWith('src/spec/schemas/'))) {
    return 'is code: spec contains only tables';
  }
  if (name.startsWith('@skerry/')) return 'is not for the service';
  const home = PACKAGE_LAYERS[name];
  return home === undefined || home === layer || COMPOSITION_LAYERS.has(layer) ? null : `belongs to ${home}`;
}

function resolutionFault({ from, specifier, target }: ImportEdge): string | null {
  const isShipped = /^(?:src|packages|integrations)\//.test(from);
  if (specifier === null) return isShipped ? 'cannot be checked' : null;
  if (target !== null) {
    const isManifest = /^(?:(?:packages|integrations)\/\w+\/)?package\.json$/.test(target);
    return isManifest || (target.endsWith('.ts') && FILES.has(target))
      ? null
      : 'is not a .ts file of the project';
  }
  if (specifier.startsWith('node:')) return isBuiltin(specifier) ? null : 'is not part of Node';
  if (/^(?:packages|integrations)\//.test(from)) return null; // packageFault reads their own package.json.
  const declared = from.startsWith('src/') ? RUNTIME_PACKAGES : ALL_PACKAGES;
  return declared.has(packageName(specifier)) ? null : 'is not in package.json';
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Returns each import cycle as its files in order, `a → b → a`. */
function findImportCycles(): string[] {
  const targets = new Map([...FILES.keys()].map((path) => [path, new Set<string>()]));
  for (const { from, target } of EDGES) {
    if (target !== null && FILES.has(target)) targets.get(from)?.add(target);
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
  for (const path of FILES.keys()) visit(path, []);
  return cycles;
}

test('every source file belongs to a layer', () => {
  const shipped = [...FILES.keys()].filter((path) => /^(?:src|packages|integrations)\//.test(path));
  assert.deepEqual(
    shipped.filter((path) => layerOf(path) === undefined),
    [],
  );
});

test('no file imports a layer that it may not use, not even as a type', () => {
  assert.deepEqual(faults(layerFault), []);
});

test('a package is imported only where it belongs', () => {
  assert.deepEqual(faults(packageFault), []);
});

test('every import resolves to a .ts file, a part of Node, or a declared package', () => {
  assert.deepEqual(faults(resolutionFault), []);
});

test('the sources have no import cycle, types included', () => {
  assert.deepEqual(findImportCycles(), []);
});
