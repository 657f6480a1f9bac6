/** The CLI covers every operation of the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { OPERATIONS } from './support/recorder.ts';

const IDS = OPERATIONS.map(({ id }) => id);

test('every operation of the API is the main one of a command', () => {
  const done = new Set<string | undefined>(COMMANDS.map(({ operations }) => operations[0]));
  assert.deepEqual(
    IDS.filter((id) => !done.has(id)),
    [],
  );
});

test('commands name only existing operations', () => {
  const unknown = COMMANDS.flatMap(({ name, operations }) =>
    operations.filter((id) => !IDS.includes(id)).map((id) => `${name}: ${id}`),
  );
  assert.deepEqual(unknown, []);
});

test('names of commands are unique, aliases included', () => {
  const names = COMMANDS.flatMap(({ name, aliases = [] }) => {
    const group = name.split(' ').slice(0, -1).join(' ');
    return [name, ...aliases.map((alias) => `${group} ${alias}`.trim())];
  });
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  );
});

test('the example of a command runs that command', () => {
  const strange = COMMANDS.filter(
    ({ name, aliases = [], isDefault, example }) =>
      ![name, ...aliases.map((alias) => [...name.split(' ').slice(0, -1), alias].join(' '))]
        .concat(isDefault ? [name.split(' ').slice(0, -1).join(' ')] : [])
        .some((words) => new RegExp(`(^|[\\s(])skerry ${words}(\\s|$)`).test(example)),
  );
  assert.deepEqual(
    strange.map(({ name, example }) => `${name}: ${example}`),
    [],
  );
});
