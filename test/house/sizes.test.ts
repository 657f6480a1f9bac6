import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources, readTree, type Tree, treeOf } from './tree.ts';

const MAX_LINES = 300;
const MEDIAN_LINES = 120;

/**
 * Files that may be longer, each with its present length and the reason. This list only shrinks: split the file
 * rather than raise its number, and strike the entry when the file has become short.
 */
const EXCEPTIONS: Exceptions = {
  'packages/sdk/src/schema.ts': {
    lines: Number.POSITIVE_INFINITY,
    reason: 'it is made from the OpenAPI document, and as long as that',
  },
};

type Exceptions = Record<string, { readonly lines: number; readonly reason: string }>;

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function findViolations(files: Tree, exceptions: Exceptions): string[] {
  const tooLong = [...files].flatMap(([path, text]) => {
    const lines = countLines(text);
    const maxLines = exceptions[path]?.lines ?? MAX_LINES;
    return lines > maxLines ? [`${path}: ${lines} lines, at most ${maxLines}`] : [];
  });
  const unneeded = Object.keys(exceptions).filter((path) => countLines(files.get(path) ?? '') <= MAX_LINES);
  return [...tooLong, ...unneeded.map((path) => `${path}: no longer needs its exception, strike it`)];
}

function medianLines(files: Tree): number {
  const lines = [...files.values()].map(countLines).sort((one, other) => one - other);
  return lines[Math.floor(lines.length / 2)] ?? 0;
}

test(`no file is longer than ${MAX_LINES} lines without a reason`, () => {
  assert.deepEqual(findViolations(readSources(), EXCEPTIONS), []);
});

test(`half of the source files are shorter than ${MEDIAN_LINES} lines`, () => {
  const made = Object.keys(EXCEPTIONS);
  const files = [...readTree(['src', 'packages'], /\.ts$/)].filter(([path]) => !made.includes(path));
  const median = medianLines(new Map(files));
  assert.ok(median < MEDIAN_LINES, `the median file has ${median} lines`);
});

const long = 'const line = 1;\n'.repeat(MAX_LINES + 1);

test('a file one line too long is a fault, one that just fits is none', () => {
  assert.equal(findViolations(treeOf({ 'src/a.ts': long }), {}).length, 1);
  assert.deepEqual(
    findViolations(treeOf({ 'src/a.ts': long.slice(0, -1 - 'const line = 1;'.length) }), {}),
    [],
  );
});

test('an exception holds for its own length and no more', () => {
  assert.deepEqual(
    findViolations(treeOf({ 'src/a.ts': long }), { 'src/a.ts': { lines: 301, reason: 'one table' } }),
    [],
  );
  const grown = treeOf({ 'src/a.ts': `${long}\n` });
  assert.equal(findViolations(grown, { 'src/a.ts': { lines: 301, reason: 'one table' } }).length, 1);
});

test('an exception that is no longer needed is a fault', () => {
  const exceptions = { 'src/a.ts': { lines: 400, reason: 'one table' } };
  assert.equal(findViolations(treeOf({ 'src/a.ts': 'short\n' }), exceptions).length, 1);
  assert.equal(findViolations(treeOf({}), exceptions).length, 1);
});

test('the median is the middle file', () => {
  assert.equal(medianLines(treeOf({ a: '1\n', b: '1\n2\n3\n', c: '1\n2\n3\n4\n5\n6\n7\n' })), 3);
});
