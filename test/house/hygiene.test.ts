import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree, type Tree } from '../support/project-files.ts';

const FOLDERS = [
  'src',
  'test',
  'bench',
  'scripts',
  'bin',
  'docs',
  'examples',
  'integrations',
  'deploy',
  'openapi',
  'packages',
  '.ci',
];
const ROOT_FILES = [
  ...['README', 'ARCHITECTURE', 'CHANGELOG', 'CONTRIBUTING', 'STYLE', 'SECURITY'].map((name) => `${name}.md`),
  ...['package.json', 'tsconfig.json', 'biome.json', '.npmrc', '.gitignore'],
];
const TEXT = /\.(?:ts|js|mjs|py|css|html|sql|json|yaml|yml|md|txt|sh|conf|service)$|(?:^|\/)[^/.]+$|^\./;

/**
 * Text that would tie the project to one machine or one network. Only the lock file names a package source.
 */
const FORBIDDEN = [
  { name: 'a folder of one machine', pattern: /(?<![\w.*}])\/(?:work|root|home\/[a-z_][\w-]*|Users\/\w+)\// },
  {
    name: 'the host of a package registry',
    pattern: /\bnpmjs\.(?:org|com)\b|\bregistry\.[a-z0-9-]+\.[a-z]{2,}\b/,
  },
];

function findViolations(files: Tree): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const forbidden = FORBIDDEN.find(({ pattern }) => pattern.test(line));
      return forbidden === undefined ? [] : [`${path}:${index + 1}: names ${forbidden.name}`];
    }),
  );
}

test('no file names a folder of one machine or a package registry', () => {
  assert.deepEqual(findViolations(readTree([...FOLDERS, ...ROOT_FILES], TEXT)), []);
});
