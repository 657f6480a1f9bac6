import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree } from '../support/project-files.ts';
import { wordFaults } from './words.ts';

const PROSE = [
  ...['src', 'packages', 'scripts', 'bin', 'docs', 'test', 'bench', 'examples', 'integrations', 'deploy'],
  '.ci',
];
const ROOT_FILES = ['README', 'ARCHITECTURE', 'CHANGELOG', 'CONTRIBUTING', 'STYLE', 'SECURITY'].map(
  (name) => `${name}.md`,
);
const TEXT = /\.(?:ts|js|py|css|sql|json|ya?ml|md|sh|conf|service|env)$|(?:^|\/)[^/.]+$/;

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
