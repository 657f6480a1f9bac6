import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree, sources, type Tree, tree } from './tree.ts';

const MAX_LINES = 300;
const MEDIAN_LINES = 120;

/**
 * Files that may be longer, each with its present length and the reason. This list only shrinks: split the file
 * rather than raise its number, and strike the entry when the file has become short.
 */
const EXCEPTIONS: Exceptions = {
  'packages/sdk/src/schema.ts': {
    lines: Number.POSITIVE_INFINITY,
    because: 'it is made from the OpenAPI document, and as long as that',
  },
};

type Exceptions = Record<string, { readonly lines: number; readonly because: string }>;

function linesOf(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function faultsOf(files: Tree, exceptions: Exceptions): string[] {
  const tooLong = [...files].flatMap(([path, text]) => {
    const lines = linesOf(text);
    const most = exceptions[path]?.lines ?? MAX_LINES;
    return lines > most ? [`${path}: ${lines} lines, at most ${most}`] : [];
  });
  const needless = Object.keys(exceptions).filter((path) => linesOf(files.get(path) ?? '') <= MAX_LINES);
  return [...tooLong, ...needless.map((path) => `${path}: no longer needs its exception, strike it`)];
}

function medianLines(files: Tree): number {
  const lines = [...files.values()].map(linesOf).sort((one, other) => one - other);
  return lines[Math.floor(lines.length / 2)] ?? 0;
}

test(`no file is longer than ${MAX_LINES} lines without a reason`, () => {
  assert.deepEqual(faultsOf(sources(), EXCEPTIONS), []);
});

test(`half of the source files are shorter than ${MEDIAN_LINES} lines`, () => {
  const made = Object.keys(EXCEPTIONS);
  const files = [...readTree(['src', 'packages'], /\.ts$/)].filter(([path]) => !made.includes(path));
  const median = medianLines(new Map(files));
  assert.ok(median < MEDIAN_LINES, `the median file has ${median} lines`);
});

const long = 'const line = 1;\n'.repeat(MAX_LINES + 1);

test('a file one line too long is a fault, one that just fits is none', () => {
  assert.equal(faultsOf(tree({ 'src/a.ts': long }), {}).length, 1);
  assert.deepEqual(faultsOf(tree({ 'src/a.ts': long.slice(0, -1 - 'const line = 1;'.length) }), {}), []);
});

test('an exception holds for its own length and no more', () => {
  assert.deepEqual(
    faultsOf(tree({ 'src/a.ts': long }), { 'src/a.ts': { lines: 301, because: 'one table' } }),
    [],
  );
  const grown = tree({ 'src/a.ts': `${long}\n` });
  assert.equal(faultsOf(grown, { 'src/a.ts': { lines: 301, because: 'one table' } }).length, 1);
});

test('an exception that is no longer needed is a fault', () => {
  const exceptions = { 'src/a.ts': { lines: 400, because: 'one table' } };
  assert.equal(faultsOf(tree({ 'src/a.ts': 'short\n' }), exceptions).length, 1);
  assert.equal(faultsOf(tree({}), exceptions).length, 1);
});

test('the median is the middle file', () => {
  assert.equal(medianLines(tree({ a: '1\n', b: '1\n2\n3\n', c: '1\n2\n3\n4\n5\n6\n7\n' })), 3);
});
