import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources, readTree, type Tree, treeOf } from './tree.ts';

const MAX_LINES = 300;
const MEDIAN_LINES = 120;

/**
 * Files that may be longer, each with its current length and the reason. This list only shrinks: split the
 * file instead of raising its number, and remove the entry once the file is short enough.
 */
const EXCEPTIONS: Exceptions = {
  'packages/sdk/src/schema.ts': {
    lines: Number.POSITIVE_INFINITY,
    reason: 'generated from the OpenAPI document',
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
  return [...tooLong, ...unneeded.map((path) => `${path}: no longer needs its exception; remove it`)];
}

function medianLines(files: Tree): number {
  const lines = [...files.values()].map(countLines).sort((a, b) => a - b);
  return lines[Math.floor(lines.length / 2)] ?? 0;
}

test(`no file is longer than ${MAX_LINES} lines without a reason`, () => {
  assert.deepEqual(findViolations(readSources(), EXCEPTIONS), []);
});

test(`half of the source files are shorter than ${MEDIAN_LINES} lines`, () => {
  const generated = Object.keys(EXCEPTIONS);
  const files = [...readTree(['src', 'packages'], /\.ts$/)].filter(([path]) => !generated.includes(path));
  const median = medianLines(new Map(files));
  assert.ok(median < MEDIAN_LINES, `the median file has ${median} lines`);
});

const long = 'const line = 1;\n'.repeat(MAX_LINES + 1);

test('a file that is one line too long is a fault, and a file of exactly the maximum is not', () => {
  assert.equal(findViolations(treeOf({ 'src/a.ts': long }), {}).length, 1);
  assert.deepEqual(
    findViolations(treeOf({ 'src/a.ts': long.slice(0, -1 - 'const line = 1;'.length) }), {}),
    [],
  );
});

test('an exception allows its stated length but no more', () => {
  assert.deepEqual(
    findViolations(treeOf({ 'src/a.ts': long }), { 'src/a.ts': { lines: 301, reason: 'one table' } }),
    [],
  );
  const longer = treeOf({ 'src/a.ts': `${long}\n` });
  assert.equal(findViolations(longer, { 'src/a.ts': { lines: 301, reason: 'one table' } }).length, 1);
});

test('an unneeded exception is a fault', () => {
  const exceptions = { 'src/a.ts': { lines: 400, reason: 'one table' } };
  assert.equal(findViolations(treeOf({ 'src/a.ts': 'short\n' }), exceptions).length, 1);
  assert.equal(findViolations(treeOf({}), exceptions).length, 1);
});

test('the median is the length of the middle file', () => {
  assert.equal(medianLines(treeOf({ a: '1\n', b: '1\n2\n3\n', c: '1\n2\n3\n4\n5\n6\n7\n' })), 3);
});
