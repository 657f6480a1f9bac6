import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as answers from '../../src/drivers/chain/json-values.ts';
import { NodeError } from '../../src/drivers/chain/node-http.ts';

const HASH = 'ab'.repeat(32);

/** Each reader, what it takes and what it does not. */
const READERS = [
  { read: answers.asObject, takes: { a: 1 }, refuses: [[], 'a', 1] },
  { read: answers.asArray, takes: [1], refuses: [{}, 'a', 1] },
  { read: answers.asString, takes: 'a', refuses: [1, [], {}] },
  { read: answers.asUint, takes: 7, refuses: [-1, 1.5, '7', 2 ** 53] },
  { read: answers.asInteger, takes: -1, refuses: [1.5, '7', 2 ** 53] },
  { read: answers.asHash, takes: HASH, refuses: [`0x${HASH}`, HASH.slice(1), 7] },
  {
    read: answers.asUint64,
    takes: '18446744073709551615',
    gives: 2n ** 64n - 1n,
    refuses: ['-1', '1.5', [7]],
  },
  { read: answers.asDate, takes: 7, gives: new Date(7_000), refuses: ['7', -1] },
];

const MAYBE = [
  { read: answers.optionalObject, takes: { a: 1 }, missing: null, refuses: [[], 'a'] },
  { read: answers.optionalArray, takes: [1], missing: [], refuses: [{}, 'a'] },
  { read: answers.optionalString, takes: 'a', missing: null, refuses: [1] },
  { read: answers.optionalUint, takes: 7, missing: null, refuses: ['7', -1] },
];

test('what is missing in an answer, or of another kind, is said by its name', () => {
  for (const { read, takes, refuses, ...rest } of READERS) {
    assert.deepEqual(read(takes, 'thing'), 'gives' in rest ? rest.gives : takes);
    for (const wrong of [...refuses, undefined, null]) {
      assert.throws(
        () => read(wrong, 'the height of a block'),
        (error) => {
          return error instanceof NodeError && error.message.startsWith('the height of a block: ');
        },
      );
    }
  }
});

test('what a node may leave out may be missing, but not of another kind', () => {
  for (const { read, takes, missing, refuses } of MAYBE) {
    assert.deepEqual(read(takes, 'thing'), takes);
    for (const none of [undefined, null]) assert.deepEqual(read(none, 'thing'), missing);
    for (const wrong of refuses) assert.throws(() => read(wrong, 'thing'), NodeError);
  }
});
