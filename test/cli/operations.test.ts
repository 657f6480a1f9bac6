/** The command line and the contract have the same operations: nothing of the API is out of a script's reach. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { OPERATIONS } from './support/recorder.ts';

const IDS = OPERATIONS.map(({ id }) => id);

test('every operation of the document is what some command is for', () => {
  const done = new Set<string | undefined>(COMMANDS.map(({ operations }) => operations[0]));
  assert.deepEqual(
    IDS.filter((id) => !done.has(id)),
    [],
  );
});

test('no command names an operation that the document does not have', () => {
  const unknown = COMMANDS.flatMap(({ name, operations }) =>
    operations.filter((id) => !IDS.includes(id)).map((id) => `${name}: ${id}`),
  );
  assert.deepEqual(unknown, []);
});

test('no two commands have one name, in their group aliases counted', () => {
  const names = COMMANDS.flatMap(({ name, aliases = [] }) => {
    const group = name.split(' ').slice(0, -1).join(' ');
    return [name, ...aliases.map((alias) => `${group} ${alias}`.trim())];
  });
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  );
});

test("an example is a line of its own command's", () => {
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
