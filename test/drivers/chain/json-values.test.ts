import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as values from '../../../src/drivers/chain/json-values.ts';
import { NodeError } from '../../../src/drivers/chain/node-http.ts';

const HASH = 'ab'.repeat(32);

/** Each parser with a value that it accepts and values that it rejects. */
const PARSERS = [
  { parse: values.asObject, accepts: { a: 1 }, rejects: [[], 'a', 1] },
  { parse: values.asArray, accepts: [1], rejects: [{}, 'a', 1] },
  { parse: values.asString, accepts: 'a', rejects: [1, [], {}] },
  { parse: values.asUint, accepts: 7, rejects: [-1, 1.5, '7', 2 ** 53] },
  { parse: values.asInteger, accepts: -1, rejects: [1.5, '7', 2 ** 53] },
  { parse: values.asHash, accepts: HASH, rejects: [`0x${HASH}`, HASH.slice(1), 7] },
  {
    parse: values.asUint64,
    accepts: '18446744073709551615',
    returns: 2n ** 64n - 1n,
    rejects: ['-1', '1.5', [7]],
  },
  { parse: values.asDate, accepts: 7, returns: new Date(7_000), rejects: ['7', -1] },
];

const OPTIONAL_PARSERS = [
  { parse: values.optionalObject, accepts: { a: 1 }, missing: null, rejects: [[], 'a'] },
  { parse: values.optionalArray, accepts: [1], missing: [], rejects: [{}, 'a'] },
  { parse: values.optionalString, accepts: 'a', missing: null, rejects: [1] },
  { parse: values.optionalUint, accepts: 7, missing: null, rejects: ['7', -1] },
];

test('a missing or malformed value is rejected with its name', () => {
  for (const { parse, accepts, rejects, ...rest } of PARSERS) {
    assert.deepEqual(parse(accepts, 'thing'), 'returns' in rest ? rest.returns : accepts);
    for (const wrong of [...rejects, undefined, null]) {
      assert.throws(
        () => parse(wrong, 'block height'),
        (error) => {
          return error instanceof NodeError && error.message.startsWith('block height: ');
        },
      );
    }
  }
});

test('an optional value may be missing but not malformed', () => {
  for (const { parse, accepts, missing, rejects } of OPTIONAL_PARSERS) {
    assert.deepEqual(parse(accepts, 'thing'), accepts);
    for (const none of [undefined, null]) assert.deepEqual(parse(none, 'thing'), missing);
    for (const wrong of rejects) assert.throws(() => parse(wrong, 'thing'), NodeError);
  }
});
