import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { settlesWithin, TimeoutError, withTimeout } from '../../src/kernel/timeout.ts';

const LONG_MS = 60_000;

/** Pending promises need a timer that keeps the process alive. */
async function pendingFor(ms: number): Promise<void> {
  await sleep(ms);
}

describe('a timeout', () => {
  it('a call that ends in time returns its result or throws its own error', async () => {
    assert.equal(await withTimeout(Promise.resolve(5), LONG_MS), 5);
    await assert.rejects(withTimeout(Promise.reject(new RangeError('own')), LONG_MS), RangeError);
  });

  it('a call that takes too long throws a TimeoutError, or the error that the caller wants', async () => {
    await assert.rejects(withTimeout(pendingFor(200), 1), TimeoutError);
    await assert.rejects(
      withTimeout(pendingFor(200), 1, () => new RangeError('mine')),
      RangeError,
    );
  });

  it('waiting for a call tells whether it ended in time, also if it failed', async () => {
    assert.equal(await settlesWithin(Promise.resolve(), LONG_MS), true);
    assert.equal(await settlesWithin(Promise.reject(new Error('failed')), LONG_MS), true);
    assert.equal(await settlesWithin(pendingFor(200), 1), false);
  });
});
