import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources, readTree } from '../support/project-files.ts';

const MAX_LINES = 300;
const MEDIAN_LINES = 120;
const MAX_CHARS = 110;

/** Generated from the OpenAPI document. */
const GENERATED = 'packages/sdk/src/schema.ts';
const FILES = new Map([...readSources()].filter(([path]) => path !== GENERATED));
const SHIPPED = [...FILES.keys()].filter((path) => /^(?:src|packages)\//.test(path));

const countLines = (path: string) => (FILES.get(path)?.match(/\n/g) ?? []).length;

test(`no file has more than ${MAX_LINES} lines`, () => {
  const long = [...FILES.keys()].filter((path) => countLines(path) > MAX_LINES);
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
  const folders = ['src', 'packages', 'test', 'bench', 'scripts', 'docs', 'examples', 'bin', '.ci'];
  const sources = readTree(folders, /\.(?:ts|js|css|sh)$|^\.ci\/run$|^bin\//);
  const long = [...sources].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => (line.length > MAX_CHARS ? [`${path}:${index + 1}`] : [])),
  );
  assert.deepEqual(
    long.filter((place) => !place.startsWith(GENERATED)),
    [],
  );
});
