import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import { assignmentsFor, bindParameters, parametersFor } from '../../src/store/parameters.ts';
import { openScratchDatabase, type ScratchDatabase } from '../support/database.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

let scratch: ScratchDatabase;
before(async () => {
  scratch = await openScratchDatabase({ poolSize: 1 });
});
after(() => scratch.close());

it('a named parameter takes its value from the property of that name, wherever it stands', async () => {
  const values = { id: 7n, note: null, unused: 'x' };
  const row = await scratch.db.row<object>(
    'select $id::bigint as id, $note::text as note, $id::bigint + 1 as next',
    values,
  );
  assert.deepEqual(row, { id: 7n, note: null, next: 8n });
});

it('a named parameter with a dot takes one array from the property of all rows', async () => {
  const rows = [
    { id: 1, name: 'a' },
    { id: 2, name: null },
  ];
  const found = await scratch.db.rows<object>(
    'select * from unnest($rows.id::int[], $rows.name::text[]) as r (id, name) where id < $limit',
    { rows, limit: 9 },
  );
  assert.deepEqual(found, rows);
});

it('a statement without a value for one of its names is refused', () => {
  assert.throws(() => bindParameters('select $id, $title', { id: 1, name: 2 }), /no value for \$title/);
  assert.throws(() => bindParameters('select $rows.id', { rows: [{ id: 1 }, {}] }), /no value for \$id/);
});

it('a statement that mixes names and numbers is refused', () => {
  assert.throws(() => bindParameters('select $id, $2', { id: 1 }), /names and numbers/);
});

it('casts, strings, and dollar quotes are not parameters', () => {
  const text = `do $$ begin raise exception 'x:y' using hint = '5$'; end $$; select 1::text`;
  assert.equal(bindParameters(text).text, text);
});

it('a list of columns becomes its parameters or its assignments', () => {
  const columns = 'id, first_name,\n  size';
  assert.equal(parametersFor(columns), '$id, $first_name,\n  $size');
  assert.equal(assignmentsFor('id, size'), 'id = $id, size = $size');
  assert.equal(assignmentsFor('id, size', 'excluded.'), 'id = excluded.id, size = excluded.size');
});

it('an array arrives as it was given, whether or not its items need quotes', async () => {
  const words = [
    '',
    ' ',
    'null',
    'nULl',
    'a,b',
    '{}',
    '"',
    '\\',
    'a b',
    '-',
    '.',
    'é',
    '\n',
    'server.running',
    '7',
  ];
  const text = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom(...words));
  const texts = fc.array(fc.option(text.filter((item) => !item.includes('\0'))), { maxLength: 5 });
  const integers = fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 5 });
  const flags = fc.array(fc.boolean(), { maxLength: 5 });
  const ids = fc.array(fc.uuid(), { maxLength: 5 });
  const property = fc.asyncProperty(texts, integers, flags, ids, async (texts, integers, flags, ids) => {
    const found = await scratch.db.row<object>(
      `select $texts::text[] as texts, $integers::bigint[]::text[] as integers,
              $flags::boolean[]::text[] as flags, $ids::uuid[] as ids`,
      { texts, integers, flags, ids },
    );
    assert.deepEqual(found, { texts, integers: integers.map(String), flags: flags.map(String), ids });
  });
  await fc.assert(property, { numRuns: PROPERTY_RUNS });
});
