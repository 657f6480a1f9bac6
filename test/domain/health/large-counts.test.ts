import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../../src/domain/context.ts';
import { countLarge } from '../../../src/domain/health/large-counts.ts';

/** Counts `n` rows, and one more with each call. */
function counterOf(n: bigint) {
  let calls = 0n;
  const db = {} as Service['db'];
  return async (name: string) => {
    const count = async () => [{ n: n + calls++ }];
    return await countLarge(db, name, count, (row) => row.n);
  };
}

test('small counts are exact, and large ones are remembered by name', async () => {
  const small = counterOf(49_000n);
  assert.deepEqual([await small('servers'), await small('servers')], [[{ n: 49_000n }], [{ n: 49_001n }]]);
  const large = counterOf(51_000n);
  assert.deepEqual([await large('servers'), await large('servers')], [[{ n: 51_000n }], [{ n: 51_000n }]]);
  assert.deepEqual(await large('pool'), [{ n: 51_001n }]);
});
