import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import {
  Failure,
  fail,
  insufficientBalance,
  notFound,
  quotaExceeded,
  unknownReference,
} from '../../src/kernel/fail.ts';
import { REFERENCE_MESSAGES, type ReferenceField } from '../../src/spec/error-messages.ts';
import { FAILURES, type FailureCode } from '../../src/spec/errors.ts';
import { QUOTAS } from '../../src/spec/limits.ts';

function captureFailure(run: () => never): Failure {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof Failure);
    return error;
  }
}

test('a failure has its code, its extra members, and the message of the table', () => {
  const failure = captureFailure(() => fail('limit_reached', { limit: 50 }));
  assert.equal(failure.code, 'limit_reached');
  assert.deepEqual(failure.extras, { limit: 50 });
  assert.equal(failure.message, FAILURES.limit_reached.message);
  assert.equal(failure.name, 'Failure');
});

test('a failure may have a more specific message', () => {
  assert.equal(
    captureFailure(() => fail('bad_request', {}, 'A specific message.')).message,
    'A specific message.',
  );
});

test('every failure of the table can be thrown', () => {
  for (const code of Object.keys(FAILURES) as FailureCode[]) {
    const failure = captureFailure(() => fail(code));
    assert.equal(failure.message, FAILURES[code].message);
    assert.deepEqual(failure.extras, {});
  }
});

describe('common failures', () => {
  it('a quota failure states the limit and how to make room', () => {
    const failure = captureFailure(() => quotaExceeded('tokens', 50));
    assert.deepEqual([failure.code, failure.extras], ['limit_reached', { limit: 50 }]);
    assert.equal(failure.message, 'An account can have at most 50 API tokens; revoke one first.');
    for (const quota of Object.keys(QUOTAS) as (keyof typeof QUOTAS)[]) {
      const { message, extras } = captureFailure(() =>
        quotaExceeded(quota, 1, { field: 'x', more: 'More text.' }),
      );
      assert.match(message, /^[A-Z].* can (have|use) at most 1 .+; .+\. More text\.$/, quota);
      assert.deepEqual(extras, { field: 'x', limit: 1 });
    }
  });

  it('an unknown reference names its field, and never the given id', () => {
    const failure = captureFailure(() => unknownReference('ssh_keys.1'));
    assert.deepEqual([failure.code, failure.extras], ['unknown_reference', { field: 'ssh_keys.1' }]);
    assert.equal(failure.message, 'ssh_keys.1: SSH key not found in your account.');
    for (const field of Object.keys(REFERENCE_MESSAGES) as ReferenceField[]) {
      const { message } = captureFailure(() => unknownReference(field));
      assert.equal(message, `${field}: ${REFERENCE_MESSAGES[field]}`);
    }
  });

  it('a not found failure names the kind of resource', () => {
    assert.equal(captureFailure(() => notFound('server')).message, 'Server not found in your account.');
  });

  it('an insufficient balance failure states the cost, the balance, and the deficit', () => {
    const failure = captureFailure(() => insufficientBalance(-50n, 2_000n));
    assert.deepEqual(failure.extras, { have: -0.5, need: 20, deficit: 20.5 });
    assert.equal(
      failure.message,
      "Insufficient balance: this costs $20.00 and your balance is -$0.50. You're short by $20.50.",
    );
  });
});
