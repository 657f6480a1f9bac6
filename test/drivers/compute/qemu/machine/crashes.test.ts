import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { restartDelayS } from '../../../../../src/drivers/compute/qemu/machine/crashes.ts';

describe('restarts of a crashing machine', () => {
  it('the restart delay doubles up to five minutes', () => {
    assert.deepEqual([1, 2, 3, 4, 7, 50].map(restartDelayS), [5, 10, 20, 40, 300, 300]);
  });
});
