import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree } from './tree.ts';

const FOLDER = 'src/store/migrations/';

function findViolations(paths: readonly string[]): string[] {
  return [...paths].sort().flatMap((path, index) => {
    const name = path.slice(FOLDER.length);
    const number = /^(\d{4})_[a-z0-9]+(?:_[a-z0-9]+)*\.sql$/.exec(name)?.[1];
    if (number === undefined) return [`${path}: is not named like 0001_what_it_adds.sql`];
    return Number(number) === index + 1 ? [] : [`${path}: should be number ${index + 1}`];
  });
}

const violationsOfNames = (...names: string[]) => findViolations(names.map((name) => FOLDER + name));

test('migrations are named NNNN_name.sql and numbered without gaps', () => {
  assert.deepEqual(findViolations([...readTree([FOLDER.slice(0, -1)], /./).keys()]), []);
});

test('gaps, repeated numbers, and a start other than 1 are faults', () => {
  assert.equal(violationsOfNames('0001_a.sql', '0003_b.sql').length, 1);
  assert.equal(violationsOfNames('0001_a.sql', '0001_b.sql').length, 1);
  assert.equal(violationsOfNames('0002_a.sql').length, 1);
});

test('a migration with an invalid name is a fault', () => {
  for (const name of ['1_a.sql', '0001-a.sql', '0001_A.sql', '0001_a.ts', '0001_.sql', 'notes.md']) {
    assert.equal(violationsOfNames(name).length, 1, name);
  }
});
