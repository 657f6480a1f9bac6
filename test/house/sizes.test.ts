import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { readSources, readTree } from '../support/project-files.ts';
import { importEdges } from './import-edges.ts';

const MAX_LINES = 300;
const MEDIAN_LINES = 120;
const MAX_CHARS = 110;
/** A shorter file with one importer is a part of that importer. */
const CRUMB_LINES = 30;
const MAX_ENTRIES = 30;

/** Generated from the OpenAPI document. */
const GENERATED = 'packages/sdk/src/schema.ts';
const FILES = new Map([...readSources()].filter(([path]) => path !== GENERATED));
const SHIPPED = [...FILES.keys()].filter((path) => /^(?:src|packages|integrations)\//.test(path));

/** Short files with one importer that stand alone, each with the reason. This list only shrinks. */
const CRUMBS: Record<string, string> = {
  'src/http/session/endpoints.ts': 'the table of the session surface',
  'src/workers/expire-topups.ts': 'one file per job; jobs.ts lists them',
  'src/workers/mailings.ts': 'one file per job; jobs.ts lists them',
  'src/workers/signal.ts': 'keeps the wait of deliver.ts apart from its rules',
  'src/workers/throttle.ts': 'one file per job; jobs.ts lists them',
};

const PYTHON = readTree(['integrations'], /\.py$/);

const countLines = (path: string) => ((FILES.get(path) ?? PYTHON.get(path))?.match(/\n/g) ?? []).length;

test(`no file has more than ${MAX_LINES} lines`, () => {
  const long = [...FILES.keys(), ...PYTHON.keys()].filter((path) => countLines(path) > MAX_LINES);
  assert.deepEqual(
    long.map((path) => `${path}: ${countLines(path)} lines`),
    [],
  );
});

test(`half of the source files are shorter than ${MEDIAN_LINES} lines`, () => {
  const lines = SHIPPED.map(countLines).sort((a, b) => a - b);
  const median = lines[Math.floor(lines.length / 2)] ?? 0;
  assert.ok(median < MEDIAN_LINES, `the median file has ${median} lines`);
});

test(`no source line has more than ${MAX_CHARS} characters`, () => {
  const folders = [
    'src',
    'packages',
    'integrations',
    'test',
    'bench',
    'scripts',
    'docs',
    'examples',
    'bin',
    '.ci',
  ];
  const sources = readTree(folders, /\.(?:ts|js|css|sh)$|^\.ci\/run$|^bin\//);
  const long = [...sources, ...PYTHON].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => (line.length > MAX_CHARS ? [`${path}:${index + 1}`] : [])),
  );
  assert.deepEqual(
    long.filter((place) => !place.startsWith(GENERATED)),
    [],
  );
});

test(`no file under ${CRUMB_LINES} lines has a single importer`, () => {
  const importers = new Map<string, Set<string>>();
  for (const { from, target } of importEdges(new Map(SHIPPED.map((path) => [path, FILES.get(path) ?? ''])))) {
    if (target !== null) importers.set(target, (importers.get(target) ?? new Set()).add(from));
  }
  const crumbs = SHIPPED.filter((path) => countLines(path) < CRUMB_LINES && importers.get(path)?.size === 1);
  assert.deepEqual(crumbs, Object.keys(CRUMBS).sort());
});

test(`no folder of the source but the migrations has more than ${MAX_ENTRIES} entries`, () => {
  const entries = new Map<string, Set<string>>();
  for (const path of readTree(['src', 'packages', 'integrations'], /(?<![.]sql)$/).keys()) {
    for (let child = path; child.includes('/'); child = posix.dirname(child)) {
      const folder = posix.dirname(child);
      entries.set(folder, (entries.get(folder) ?? new Set()).add(child));
    }
  }
  const long = [...entries].filter(([, children]) => children.size > MAX_ENTRIES).map(([folder]) => folder);
  assert.deepEqual(long, []);
});
