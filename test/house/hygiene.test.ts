import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree, type Tree, treeOf } from './tree.ts';

const FOLDERS = [
  'src',
  'test',
  'bench',
  'scripts',
  'bin',
  'docs',
  'examples',
  'deploy',
  'openapi',
  'packages',
  '.ci',
];
const ROOT_FILES = [
  ...['README', 'ARCHITECTURE', 'CHANGELOG', 'CONTRIBUTING', 'STYLE', 'SECURITY'].map((name) => `${name}.md`),
  ...['package.json', 'tsconfig.json', 'biome.json', '.npmrc', '.gitignore'],
];
const TEXT = /\.(?:ts|js|mjs|css|html|sql|json|yaml|yml|md|txt|sh|conf|service)$|(?:^|\/)[^/.]+$|^\./;

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

/** Files that must contain such a text: `path: reason`. */
const EXCEPTIONS: Record<string, string> = {};

function findViolations(files: Tree): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const forbidden = FORBIDDEN.find(({ pattern }) => pattern.test(line));
      return forbidden === undefined ? [] : [`${path}:${index + 1}: names ${forbidden.name}`];
    }),
  );
}

test('no file names a folder of one machine or a package registry', () => {
  const faults = findViolations(readTree([...FOLDERS, ...ROOT_FILES], TEXT));
  assert.deepEqual(
    faults.filter((fault) => !Object.hasOwn(EXCEPTIONS, fault.split(':')[0] ?? '')),
    [],
  );
});

test('every exception is still needed', () => {
  const excepted = readTree(Object.keys(EXCEPTIONS), TEXT);
  const needed = new Set(findViolations(excepted).map((fault) => fault.split(':')[0]));
  assert.deepEqual(
    Object.keys(EXCEPTIONS).filter((path) => !needed.has(path)),
    [],
  );
});

// These texts are assembled here, because this file is checked too.
const folder = (...names: string[]) => `/${names.join('/')}/`;

for (const text of [
  `cd ${folder('work')}main`,
  `import '${folder('root')}project/a.ts'`,
  `"path": "${folder('home', 'someone')}project"`,
  `file://${folder('Users', 'someone')}project`,
  `https://${['registry', 'npmjs', 'org'].join('.')}/pg`,
  `registry=https://${['registry', 'example', 'com'].join('.')}`,
]) {
  test(`a file with "${text.slice(0, 4)}…" and a forbidden text is a fault`, () => {
    assert.equal(findViolations(treeOf({ 'docs/a.md': `first line\n${text}\n` })).length, 1);
  });
}

test('project paths and standard Linux paths are allowed', () => {
  const text = 'src/work/a.ts https://example.org/root/a /tmp/a /etc/skerry/skerry.env ./work/a';
  assert.deepEqual(findViolations(treeOf({ 'docs/a.md': text })), []);
});
