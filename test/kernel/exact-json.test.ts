import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseCoinAmount, parseExactJson, toPlainDecimal } from '../../src/kernel/exact-json.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

describe('amounts in the JSON of a node', () => {
  it('an amount in JSON is parsed to its last digit, even if a double would change it', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 26n }),
        fc.integer({ min: 1, max: 18 }),
        (units, decimals) => {
          const digits = units.toString().padStart(decimals + 1, '0');
          const text = `{"amount":${digits.slice(0, -decimals)}.${digits.slice(-decimals)}}`;
          const { amount } = parseExactJson(text) as { amount: unknown };
          assert.equal(parseCoinAmount(amount, decimals), units);
        },
      ),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('an amount in JSON may be an integer, large, or in exponent notation', () => {
    const read = (text: string) => parseCoinAmount(parseExactJson(text), 8);
    assert.deepEqual(['1', '21000000', '1e-8', '2.5E-7', '0', '1.5e1'].map(read), [
      100_000_000n,
      2_100_000_000_000_000n,
      1n,
      25n,
      0n,
      1_500_000_000n,
    ]);
    assert.equal(
      parseCoinAmount(parseExactJson('123456789012345678901234567890'), 0),
      123456789012345678901234567890n,
    );
  });

  it('an amount in JSON is invalid if negative, too precise for the coin, or not a number', () => {
    for (const value of [-1, '-0.1', '0.000000001', 'x', null, undefined, {}, Number.NaN]) {
      assert.throws(() => parseCoinAmount(value, 8), /invalid amount/);
    }
  });
});

describe('numbers in the JSON of a feed', () => {
  it('a number in JSON becomes plain decimal text with all its digits', () => {
    const read = (text: string) => toPlainDecimal(parseExactJson(text));
    assert.deepEqual(
      ['7', '60000.10', '"60010.10000"', '0.123456789012345678', '2.5e-7', '1.5E+3'].map(read),
      ['7', '60000.10', '60010.10000', '0.123456789012345678', '0.00000025', '1500.0'],
    );
  });

  it('a number in JSON is invalid if negative, infinite, or not a number', () => {
    for (const value of [-1, '-0.1', 'x', '', ' 1', '1,5', '1e99', '1e-99', null, undefined, {}, [], true]) {
      assert.equal(toPlainDecimal(value), undefined, String(value));
    }
    assert.equal(toPlainDecimal(Number.NaN), undefined);
    assert.equal(toPlainDecimal(Number.POSITIVE_INFINITY), undefined);
  });
});
