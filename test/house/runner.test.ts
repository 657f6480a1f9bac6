import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import report from '../../scripts/test-reporter.ts';
import { connectionOf } from '../../scripts/test-server.ts';

const file = join(process.cwd(), 'test/kernel/money.test.ts');
const where = { nesting: 0, testNumber: 1, file, entryFile: file, line: 7, column: 1 };

// Whatever this run was asked to print besides.
delete process.env.SKERRY_TEST_TIMES;

async function reported(...events: object[]): Promise<string> {
  const source = (async function* () {
    for (const event of events) yield event as TestEvent;
  })();
  let text = '';
  for await (const part of report(source)) text += part;
  return text;
}

const passed = (name: string, more: object = {}) => ({
  type: 'test:pass',
  data: { ...where, name, details: { duration_ms: 1 }, ...more },
});
const failed = (name: string, error: Error) => ({
  type: 'test:fail',
  data: { ...where, name, details: { duration_ms: 1, error } },
});
const printed = (message: string) => ({ type: 'test:stdout', data: { file, entryFile: file, message } });

test('tests that pass are reported by the closing lines alone', async () => {
  const counts = { type: 'test:diagnostic', data: { nesting: 0, message: 'tests 1', level: 'info' } };
  assert.equal(await reported(printed('noise\n'), passed('a cent is a cent'), counts), 'ℹ tests 1\n');
});

test('a failure is reported with its place, its cause and what its file printed', async () => {
  const text = await reported(printed('seed 42\n'), failed('a cent is a cent', new Error('two cents')));
  assert.match(text, /✖ a cent is a cent \(test\/kernel\/money\.test\.ts:7/);
  assert.match(text, /Error: two cents/);
  assert.match(text, /money\.test\.ts printed:\n {2}seed 42/);
});

test('a parent that fails only by its child is not reported again', async () => {
  const error = Object.assign(new Error('1 subtest failed'), { failureType: 'subtestsFailed' });
  assert.doesNotMatch(await reported(failed('parent', error)), /parent/);
});

test('a skipped test is reported with its reason', async () => {
  const text = await reported(passed('boots a real guest', { skip: 'QEMU is not installed' }));
  assert.match(text, /skipped:\n.*boots a real guest.*: QEMU is not installed/);
});

test('a database for tests is named by a URL, by a host or by the folder of a socket', () => {
  assert.deepEqual(connectionOf('postgres://me:p%40ss@db.example:5433/scratch'), {
    host: 'db.example',
    port: 5433,
    user: 'me',
    database: 'scratch',
    password: 'p@ss',
  });
  assert.deepEqual(connectionOf('postgresql://postgres@localhost/postgres?host=/tmp/pg'), {
    host: '/tmp/pg',
    port: 5432,
    user: 'postgres',
    database: 'postgres',
  });
});

test('a URL of something else is refused without repeating its password', () => {
  for (const text of ['secret', 'mysql://me:secret@db/x']) {
    assert.throws(() => connectionOf(text), {
      message: 'SKERRY_TEST_DATABASE_URL is not of the form postgres://user@host:port/database',
    });
  }
});
