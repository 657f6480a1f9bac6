import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cyclePriceCents } from '../../../../src/domain/servers/billing/price.ts';
import { CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS } from '../../../../src/spec/limits.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';

test('one month costs the monthly price, and longer cycles are discounted', () => {
  assert.deepEqual(
    CYCLE_MONTHS.map((months) => cyclePriceCents(1000n, months)),
    [1000n, 2250n, 3900n, 6000n],
  );
});

test('half a cent is rounded up in a cycle price', () => {
  assert.equal(cyclePriceCents(502n, 3), 1130n); // 11.295
  assert.equal(cyclePriceCents(505n, 6), 1970n); // 19.695
  assert.equal(cyclePriceCents(2n, 3), 5n); // 0.045
});

test('less than half a cent is rounded down in a cycle price, and more is rounded up', () => {
  assert.equal(cyclePriceCents(501n, 3), 1127n); // 11.2725
  assert.equal(cyclePriceCents(503n, 3), 1132n); // 11.3175
});

test('a cycle price is within half a cent of the exact price and never above the undiscounted one', () => {
  const month = fc.bigInt({ min: 1n, max: 10n ** 9n });
  fc.assert(
    fc.property(month, fc.constantFrom(...CYCLE_MONTHS), (monthCents, months) => {
      const cycle = cyclePriceCents(monthCents, months);
      const exactHundredths = monthCents * BigInt(months) * BigInt(100 - CYCLE_DISCOUNT_PERCENT[months]);
      const offHundredths = cycle * 100n - exactHundredths;
      assert.ok(-50n < offHundredths && offHundredths <= 50n);
      assert.ok(cycle <= monthCents * BigInt(months));
    }),
    { numRuns: PROPERTY_RUNS * 10 },
  );
});
