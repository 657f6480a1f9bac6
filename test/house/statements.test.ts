import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree } from '../support/project-files.ts';

const STRING = /`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'/g;
const SQL = /\b(?:select|insert into|update|delete from|values)\b/;
const SEVENTH_PARAMETER = /\$(?:[7-9]|[1-9]\d)\b/;

test('a statement with more than six parameters names them', () => {
  const numbered = [...readTree(['src', 'bench', 'test'], /\.ts$/)].flatMap(([path, text]) =>
    [...text.matchAll(STRING)]
      .filter(([string]) => SQL.test(string) && SEVENTH_PARAMETER.test(string))
      .map(([string]) => `${path}: ${string.slice(0, 60)}`),
  );
  assert.deepEqual(numbered, []);
});
