import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUnavailable, sqlState, violatedConstraint } from '../../src/store/connections/errors.ts';

test('errors of an unavailable database are distinguished from errors of a request', () => {
  const withCode = (code: string) => Object.assign(new Error('x'), { code });
  for (const code of ['08006', '08001', '53300', '53100', '57P01', '57P03', '57014', '58030', '55P03']) {
    assert.ok(isUnavailable(withCode(code)), code);
  }
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH']) {
    assert.ok(isUnavailable(withCode(code)), code);
  }
  const onSystemCall = (code: string, syscall: string) => Object.assign(withCode(code), { syscall });
  for (const code of ['ENOENT', 'EACCES', 'ENOTSOCK']) {
    assert.ok(isUnavailable(onSystemCall(code, 'connect')), code);
    for (const syscall of ['open', 'scandir', 'listen']) {
      assert.ok(!isUnavailable(onSystemCall(code, syscall)), `${code} ${syscall}`);
    }
    assert.ok(!isUnavailable(withCode(code)), code);
  }
  assert.ok(isUnavailable(new Error('Connection terminated unexpectedly')));
  assert.ok(isUnavailable(new Error('timeout exceeded when trying to connect')));
  for (const code of ['23505', '22P02', '42P01', '40001', 'SK001', 'SK002']) {
    assert.ok(!isUnavailable(withCode(code)), code);
  }
  for (const other of [new Error('x'), null, undefined, 'ECONNREFUSED']) assert.ok(!isUnavailable(other));
});

test('an error that is not from the database has no state and no constraint', () => {
  for (const other of [new Error('x'), null, undefined, 'x', { code: 5 }]) {
    assert.equal(sqlState(other), '');
    assert.equal(violatedConstraint(other), '');
  }
});
