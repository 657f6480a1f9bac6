import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree, treeOf } from './tree.ts';
import { wordFaults } from './words.ts';

const PROSE = ['src', 'packages', 'scripts', 'bin', 'docs', 'test', 'bench', 'examples', 'deploy', '.ci'];
const ROOT_FILES = ['README', 'ARCHITECTURE', 'CHANGELOG', 'CONTRIBUTING', 'STYLE', 'SECURITY'].map(
  (name) => `${name}.md`,
);
const TEXT = /\.(?:ts|js|css|sql|json|ya?ml|md|sh|conf|service|env)$|(?:^|\/)[^/.]+$/;

/**
 * Landed migrations are remembered by their hash, the license is legal text, the generated types repeat the
 * API contract, and words.ts holds the list.
 */
const NOT_READ = new RegExp(
  [
    '^src/store/migrations/',
    '(?:^|/)LICENSE$',
    '^packages/sdk/src/schema[.]ts$',
    '^test/house/words(?:[.]test)?[.]ts$',
  ].join('|'),
);

test('every text is written in the words of the glossary', () => {
  const files = [...readTree([...PROSE, ...ROOT_FILES], TEXT)].filter(([path]) => !NOT_READ.test(path));
  assert.deepEqual(wordFaults(new Map(files)), []);
});

for (const line of [
  '// Sends it anew.',
  'The balance does not suffice.',
  '/** What lasts is not counted. */',
  "test('what left the chain is not listed', () => {});",
  '// Wait a second, say, and try again.',
]) {
  test(`the word list finds a fault in "${line}"`, () => {
    assert.equal(wordFaults(treeOf({ 'src/a.ts': line })).length, 1);
  });
}

test('plain sentences pass the word list', () => {
  const text =
    '// Retries in 30 s.\n## What changed\n// What does the port answer? Nothing.\nThe page at that URL.';
  assert.deepEqual(wordFaults(treeOf({ 'src/a.ts': text })), []);
});
