import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryBuckets } from '../../../src/domain/tokens/buckets.ts';
import { rateHeaders } from '../../../src/http/v1/admit.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';

describe('the rate headers', () => {
  it('the rate headers count down to zero and then give the wait, at any rate', () => {
    const refill = fc.oneof(
      fc.constantFrom(1, 200 / 60, 3, 7, 60),
      fc.double({ min: 0.01, max: 900, noNaN: true }),
    );
    const moment = fc
      .integer({ min: 1_700_000_000_000_000, max: 2_000_000_000_000_000 })
      .map((us) => us / 1_000);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), refill, moment, (capacity, refillPerS, nowMs) => {
        const rule = { capacity, refillPerS };
        const buckets = new MemoryBuckets();
        for (let left = capacity - 1; left >= 0; left--) {
          const headers = rateHeaders(rule, buckets.draw('one', rule, nowMs));
          assert.equal(headers['x-ratelimit-limit'], String(Math.round(refillPerS * 60)));
          assert.equal(headers['x-ratelimit-remaining'], String(left));
          assert.equal(headers['retry-after'], undefined);
          const fullInS = Number(headers['x-ratelimit-reset']) - nowMs / 1_000;
          const wantedS = (capacity - left) / refillPerS;
          assert.ok(fullInS > wantedS - 0.01 && fullInS < wantedS + 1.01, `${fullInS} for ${wantedS}`);
        }
        const refused = rateHeaders(rule, buckets.draw('one', rule, nowMs));
        assert.equal(refused['x-ratelimit-remaining'], '0');
        assert.ok(Math.abs(Number(refused['retry-after']) - Math.max(1, 1 / refillPerS)) <= 1);
      }),
      { numRuns: PROPERTY_RUNS * 5 },
    );
  });
});
