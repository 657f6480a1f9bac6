import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  centsToUsd,
  coinUnitsDue,
  coinValueCents,
  convertCents,
  formatCents,
  formatUnits,
  mulDiv,
  parseDecimal,
  parseUnits,
} from '../../src/kernel/money.ts';
import { COINS } from '../../src/spec/coins.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

const runs = { numRuns: PROPERTY_RUNS * 20 };
const amount = fc.bigInt({ min: 0n, max: 10n ** 24n });
const divisor = fc.bigInt({ min: 1n, max: 10n ** 12n });
const coin = fc.constantFrom(...COINS);
const amountCents = fc.bigInt({ min: 1n, max: 10n ** 9n });
/** A rate in the format of a ticker: positive decimal text. */
const rate = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 15n }), fc.integer({ min: 0, max: 12 }))
  .map(([units, decimals]) => formatUnits(units, decimals));

test('mulDiv rounds in the given direction, by less than one unit', () => {
  fc.assert(
    fc.property(amount, amount, divisor, (a, b, c) => {
      const [down, up, half] = [mulDiv(a, b, c, 'down'), mulDiv(a, b, c, 'up'), mulDiv(a, b, c, 'half_up')];
      assert.ok(down * c <= a * b && (down + 1n) * c > a * b);
      assert.ok(up * c >= a * b && (up - 1n) * c < a * b);
      // Half up: within half a unit, and up when it is exactly between two.
      const twiceOff = 2n * (half * c - a * b);
      assert.ok(-c < twiceOff && twiceOff <= c);
    }),
    runs,
  );
});

test('an exact quotient is the same in every rounding direction', () => {
  fc.assert(
    fc.property(amount, divisor, (a, c) => {
      for (const rounding of ['up', 'down', 'half_up'] as const) assert.equal(mulDiv(a, c, c, rounding), a);
    }),
    runs,
  );
});

test('half_up rounds a half up', () => {
  assert.equal(mulDiv(5n, 1n, 2n, 'half_up'), 3n);
  assert.equal(mulDiv(5n, 1n, 2n, 'down'), 2n);
  assert.equal(mulDiv(49n, 1n, 100n, 'half_up'), 0n);
  assert.equal(mulDiv(50n, 1n, 100n, 'half_up'), 1n);
});

test('mulDiv rejects negative values and a divisor of zero', () => {
  for (const [a, b, c] of [
    [-1n, 1n, 1n],
    [1n, -1n, 1n],
    [1n, 1n, 0n],
    [1n, 1n, -1n],
  ] as const) {
    assert.throws(() => mulDiv(a, b, c, 'down'), RangeError);
  }
});

test('the coin amount due is worth the requested cents, and one unit less is not', () => {
  fc.assert(
    fc.property(amountCents, rate, coin, (cents, usd, { decimals }) => {
      const due = coinUnitsDue(cents, usd, decimals);
      assert.ok(coinValueCents(due, usd, decimals) >= cents);
      assert.ok(coinValueCents(due - 1n, usd, decimals) < cents);
    }),
    runs,
  );
});

test('a payment in parts is never credited more than a single payment', () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 22n });
  fc.assert(
    fc.property(units, units, rate, coin, (one, other, usd, { decimals }) => {
      const parts = coinValueCents(one, usd, decimals) + coinValueCents(other, usd, decimals);
      const whole = coinValueCents(one + other, usd, decimals);
      assert.ok(parts <= whole && whole <= parts + 1n);
    }),
    runs,
  );
});

test('a rate that is zero, negative, or not decimal is rejected', () => {
  for (const text of ['0', '0.00', '-1', '', '1e3', 'NaN', '1,5', ' 1', '.5', '1.', '0x10', '1'.repeat(31)]) {
    assert.throws(() => coinUnitsDue(100n, text, 8), RangeError, text);
    assert.throws(() => coinValueCents(100n, text, 8), RangeError, text);
    assert.throws(() => convertCents(100n, text), RangeError, text);
  }
});

test('convertCents rounds half up', () => {
  assert.equal(convertCents(500n, '0.92'), 460n);
  assert.equal(convertCents(25n, '0.9'), 23n);
  assert.equal(convertCents(0n, '0.92'), 0n);
});

test('decimal text is parsed exactly, with every digit', () => {
  assert.deepEqual(parseDecimal('61234.5'), { digits: 612345n, scale: 10n });
  assert.equal(parseUnits('0.000000000000000001', 18), 1n);
  assert.equal(parseUnits('90071992547409.93', 2), 9007199254740993n);
  assert.equal(parseUnits('1.50', 1), 15n);
});

test('decimal text more precise than the unit is rejected, not rounded', () => {
  assert.equal(parseUnits('0.001', 2), undefined);
  assert.equal(parseUnits('30.005', 2), undefined);
});

test('parseUnits restores every value that formatUnits writes', () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 28n });
  fc.assert(
    fc.property(units, fc.integer({ min: 0, max: 18 }), fc.boolean(), (value, decimals, fixed) => {
      assert.equal(parseUnits(formatUnits(value, decimals, fixed), decimals), value);
    }),
    runs,
  );
});

test('formatUnits removes trailing zeros unless the format is fixed', () => {
  assert.equal(formatUnits(150_000_000n, 8), '1.5');
  assert.equal(formatUnits(100_000_000n, 8), '1');
  assert.equal(formatUnits(1n, 8), '0.00000001');
  assert.equal(formatUnits(-1999n, 2), '-19.99');
  assert.equal(formatUnits(7n, 0), '7');
  assert.equal(formatCents(1990n), '19.90');
  assert.equal(formatCents(-5n), '-0.05');
});

test('cents as a JSON number are exact for any realistic amount', () => {
  assert.equal(JSON.stringify(centsToUsd(1999n)), '19.99');
  assert.equal(JSON.stringify(centsToUsd(-30n)), '-0.3');
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (cents) => {
      assert.equal(BigInt(Math.round(centsToUsd(cents) * 100)), cents);
      assert.equal(centsToUsd(cents).toFixed(2), formatCents(cents).replace(/^-(0\.00)$/, '$1'));
    }),
    runs,
  );
});
