import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fence } from '../../../../src/drivers/compute/host/fence.ts';

describe('the fence of a host', () => {
  it('admits no call before the first greeting, and none from before it', () => {
    const fence = new Fence();
    assert.equal(fence.admit(5, ['a']), false);
    fence.greet(5);
    fence.greet(3);
    assert.deepEqual([fence.admit(4, ['a']), fence.admit(6, ['a'])], [false, true]);
  });

  it('refuses a lower number for the same resource only', () => {
    const fence = new Fence();
    fence.greet(1);
    assert.equal(fence.admit(9, ['volume', 'a']), true);
    assert.equal(fence.admit(8, ['volume', 'b']), false);
    assert.equal(fence.admit(8, ['b']), true);
    assert.equal(fence.admit(9, ['a']), true);
  });

  it('still refuses late calls for resources that it forgot', () => {
    const fence = new Fence(2);
    fence.greet(1);
    for (const [index, id] of ['a', 'b', 'c'].entries()) assert.equal(fence.admit(10 + index, [id]), true);
    assert.deepEqual([fence.admit(9, ['a']), fence.admit(13, ['a'])], [false, true]);
  });
});
