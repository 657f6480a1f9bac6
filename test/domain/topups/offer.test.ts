import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bonusCents, parseTopupAmount, smallestTopup } from '../../../src/domain/topups/offer.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';

function verdict(text: string): string {
  try {
    return `${parseTopupAmount(text)}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [error.code, ...Object.entries(error.extras).flat()].join(' ');
  }
}

const LOW = 'amount_too_low min 30';
const HIGH = 'amount_too_high max 10000';
const BAD = 'bad_amount';

const CASES: readonly (readonly [text: string, verdict: string])[] = [
  ['30', '3000'],
  ['+30', '3000'],
  ['030.00', '3000'],
  ['30.000', '3000'],
  ['99.9', '9990'],
  ['1234.56', '123456'],
  ['10000', '1000000'],
  ['10000.00', '1000000'],
  ['29.99', LOW],
  ['29.999', LOW],
  ['0', LOW],
  ['-0', LOW],
  ['-5', LOW],
  ['-30', LOW],
  ['-99999999999999999999999999999999', LOW],
  ['0.0000001', LOW],
  ['10000.01', HIGH],
  ['10000.001', HIGH],
  ['9'.repeat(31), HIGH],
  ['9'.repeat(5_000), BAD],
  ['30.001', BAD],
  ['9999.999', BAD],
  ['', BAD],
  [' ', BAD],
  [' 30', BAD],
  ['30 ', BAD],
  ['30\n', BAD],
  ['+', BAD],
  ['.', BAD],
  ['.5', BAD],
  ['30.', BAD],
  ['1e3', BAD],
  ['0x64', BAD],
  ['NaN', BAD],
  ['Infinity', BAD],
  ['--50', BAD],
  ['30,00', BAD],
  ['1_000', BAD],
  ['٣٠', BAD],
  ['30.0.0', BAD],
  ['$30', BAD],
];

for (const [text, expected] of CASES) {
  const shown = text.length > 40 ? `${text.length} digits` : JSON.stringify(text);
  test(`the amount ${shown} gives ${expected}`, () => assert.equal(verdict(text), expected));
}

test('parsing an amount throws only expected failures for any text', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), (text) => void verdict(text)),
    { numRuns: PROPERTY_RUNS },
  );
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789.+-eE'), maxLength: 80 });
  fc.assert(
    fc.property(digits, (text) => void verdict(text)),
    { numRuns: PROPERTY_RUNS },
  );
});

test('amounts in whole cents within the bounds are parsed exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 3_000, max: 1_000_000 }), (cents) => {
      assert.equal(verdict((cents / 100).toFixed(2)), `${cents}`);
    }),
    { numRuns: PROPERTY_RUNS },
  );
});

test('the bonus is flat, by the highest tier reached', () => {
  const bonuses = [0, 99.99, 100, 249.99, 250, 499.99, 500, 999.99, 1000, 10000].map((usd) =>
    Number(bonusCents(BigInt(Math.round(usd * 100)))),
  );
  assert.deepEqual(bonuses, [0, 0, 3_000, 3_000, 10_000, 10_000, 30_000, 30_000, 70_000, 70_000]);
});

test('the smallest top-up for a deficit includes its bonus, and is at most the largest one', () => {
  for (const [missing, amount, bonus] of [
    [1n, 3_000n, 0n],
    [9_999n, 9_999n, 0n],
    [10_000n, 10_000n, 3_000n],
    [13_000n, 10_000n, 3_000n],
    [13_001n, 10_001n, 3_000n],
    [30_000n, 25_000n, 10_000n],
    [80_000n, 50_000n, 30_000n],
    [150_000n, 100_000n, 70_000n],
    [170_001n, 100_001n, 70_000n],
    [9_000_000n, 1_000_000n, 70_000n],
  ] as const) {
    assert.deepEqual(smallestTopup(missing), { amountCents: amount, bonusCents: bonus }, String(missing));
  }
});
