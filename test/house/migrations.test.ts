import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree } from '../support/project-files.ts';

const FOLDER = 'src/store/migrations/';

function findViolations(paths: readonly string[]): string[] {
  return [...paths].sort().flatMap((path, index) => {
    const name = path.slice(FOLDER.length);
    const number = /^(\d{4})_[a-z0-9]+(?:_[a-z0-9]+)*\.sql$/.exec(name)?.[1];
    if (number === undefined) return [`${path}: is not named like 0001_what_it_adds.sql`];
    return Number(number) === index + 1 ? [] : [`${path}: should be number ${index + 1}`];
  });
}

/** Earlier versions look only for rows that have a value in the column, so null hides a row from them. */
const HIDES_ROWS = ['work_given_up'];

/** Earlier migrations do not say it. */
const FIRST_JUDGED = '0087';

test('migrations begin with whether the previous version works with them', () => {
  const files = [...readTree([FOLDER.slice(0, -1)], /./)];
  const silent = files
    .filter(([path]) => path.slice(FOLDER.length) >= FIRST_JUDGED)
    .filter(([, text]) => !/^-- (?:Compatible|Incompatible): \S/.test(text));
  assert.deepEqual(
    silent.map(([path]) => path),
    [],
  );
});

test('compatible migrations remove and rename nothing that an even earlier version may use', () => {
  const broken = [...readTree([FOLDER.slice(0, -1)], /./)]
    .filter(([, text]) => text.startsWith('-- Compatible:'))
    .filter(([path, text]) => {
      const hides = HIDES_ROWS.some((name) => path.endsWith(`_${name}.sql`));
      return (
        /\bdrop (?:table|column)\b|\brename\b/i.test(text) || (!hides && /\bdrop not null\b/i.test(text))
      );
    });
  assert.deepEqual(
    broken.map(([path]) => path),
    [],
  );
});

test('migrations are named NNNN_name.sql and numbered without gaps', () => {
  assert.deepEqual(findViolations([...readTree([FOLDER.slice(0, -1)], /./).keys()]), []);
});
