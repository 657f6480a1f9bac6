import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImports } from '../support/imports.ts';

const specifiers = (source: string) => parseImports(source).map((parsed) => parsed.specifier);

test('every form of import is found', () => {
  const source = `
    import './effect.ts';
    import one from './default.ts';
    import * as two from "./star.ts";
    import three, { type Four, five as six } from './mixed.ts';
    import type { Seven } from './type.ts';
    import {
      eight,
      nine,
    } from './lines.ts';
    export { ten } from './reexport.ts';
    export type { Eleven } from './reexport-type.ts';
    export * from './reexport-star.ts';
    export type * as twelve from './reexport-named.ts';
    const later = await import('./dynamic.ts');
    const plain = import(\`./template.ts\`);
    let loaded: typeof import('./loaded.ts');
    import data from './data.json' with { type: 'json' };`;
  assert.deepEqual(specifiers(source), [
    './effect.ts',
    './default.ts',
    './star.ts',
    './mixed.ts',
    './type.ts',
    './lines.ts',
    './reexport.ts',
    './reexport-type.ts',
    './reexport-star.ts',
    './reexport-named.ts',
    './dynamic.ts',
    './template.ts',
    './loaded.ts',
    './data.json',
  ]);
});

test('text that only resembles an import is ignored', () => {
  const source = `
    // import './comment.ts'
    /* import './block.ts' */
    const text = "import './text.ts'";
    const template = \`import './template.ts' \${nested(\`import './inner.ts'\`)} import './tail.ts'\`;
    const pattern = /import '.\\/pattern.ts' ["'\`]/;
    const url = import.meta.url;
    loader.import('./method.ts');
    const table = { import: './key.ts' };
    const rows = Array.from('./array.ts');
    export { text, template };
    export const from = './constant.ts';`;
  assert.deepEqual(specifiers(source), []);
});

test('an import inside a template is found, and so are imports after it', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the string is source code
  assert.deepEqual(specifiers("const a = `x ${import('./in.ts')} ${{ b: `}` }.b} y`; import './after.ts';"), [
    './in.ts',
    './after.ts',
  ]);
});

test('a division does not hide the code after it', () => {
  assert.deepEqual(specifiers("const half = (a + b) / 2; import './a.ts'; const c = rows[0] / d;"), [
    './a.ts',
  ]);
});

test('a quote inside a regular expression does not hide the code after it', () => {
  assert.deepEqual(specifiers(`const q = text.replace(/['"\`]/g, ''); import './a.ts';`), ['./a.ts']);
  assert.deepEqual(specifiers(`const q = a === b && /[/'"]/.test(a); import './a.ts';`), ['./a.ts']);
});

test('a computed import is found without a specifier', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the string is source code
  assert.deepEqual(specifiers("await import(name); await import('./a' + '.ts'); import(`./${name}.ts`);"), [
    null,
    null,
    null,
  ]);
});

test('an import has the line on which it starts', () => {
  const source = "/* two\nlines */\nimport './a.ts';\nconst text = `\n\n`;\nexport * from './b.ts';\n";
  assert.deepEqual(parseImports(source), [
    { specifier: './a.ts', line: 3 },
    { specifier: './b.ts', line: 7 },
  ]);
});
