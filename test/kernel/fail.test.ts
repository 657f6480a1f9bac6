import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure, fail } from '../../src/kernel/fail.ts';
import { FAILURES, type FailureCode } from '../../src/spec/errors.ts';

function caught(refuse: () => never): Failure {
  try {
    return refuse();
  } catch (error) {
    assert.ok(error instanceof Failure);
    return error;
  }
}

test('a refusal carries its code, its further members and the message of the table', () => {
  const failure = caught(() => fail('limit_reached', { limit: 50 }));
  assert.equal(failure.code, 'limit_reached');
  assert.deepEqual(failure.extras, { limit: 50 });
  assert.equal(failure.message, FAILURES.limit_reached.message);
  assert.equal(failure.name, 'Failure');
});

test('a refusal may say it in words that fit better', () => {
  assert.equal(caught(() => fail('bad_request', {}, 'Say it otherwise.')).message, 'Say it otherwise.');
});

test('every failure of the table can be refused with', () => {
  for (const code of Object.keys(FAILURES) as FailureCode[]) {
    const failure = caught(() => fail(code));
    assert.equal(failure.message, FAILURES[code].message);
    assert.deepEqual(failure.extras, {});
  }
});
