import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree, type Tree, treeOf } from './tree.ts';

const MAX_CHARS = 110;
const SOURCE = /\.(?:ts|js|css|sh)$|^\.ci\/run$|^bin\//;
const FOLDERS = ['src', 'packages', 'test', 'bench', 'scripts', 'docs', 'examples', 'bin', '.ci'];
/** Generated from the OpenAPI document. */
const GENERATED = 'packages/sdk/src/schema.ts';

function longLines(files: Tree): string[] {
  return [...files].flatMap(([path, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        line.length > MAX_CHARS ? [`${path}:${index + 1}: ${line.length} characters`] : [],
      ),
  );
}

test(`no source line has more than ${MAX_CHARS} characters`, () => {
  const files = [...readTree(FOLDERS, SOURCE)].filter(([path]) => path !== GENERATED);
  assert.deepEqual(longLines(new Map(files)), []);
});

test('a line one character too long is a fault', () => {
  const fits = 'x'.repeat(MAX_CHARS);
  assert.deepEqual(longLines(treeOf({ 'src/a.ts': `${fits}\n${fits}x\n` })), ['src/a.ts:2: 111 characters']);
});
