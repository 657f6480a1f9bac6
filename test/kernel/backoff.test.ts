import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BACKOFF, backoffMs } from '../../src/kernel/backoff.ts';

describe('a backoff', () => {
  it('a wait doubles with each failure up to its maximum, however many there are', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 5_000].map((failures) => backoffMs(BACKOFF.step, failures));
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('a list of waits repeats its last one', () => {
    const waits = [1, 2, 3, 4, 5, 900].map((failures) => backoffMs(BACKOFF.databaseStart, failures));
    assert.deepEqual(waits, [0, 200, 1_000, 5_000, 5_000, 5_000]);
  });
});
