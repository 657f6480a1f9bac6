import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { imageRemovalDay, isImageRemoved } from '../../../src/domain/images/read.ts';
import { IsoProbe } from '../../../src/domain/images/upload.ts';
import { isoFile } from '../../support/iso.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';

describe('a deprecated image', () => {
  it('a deprecated image exists for 90 days after its day, and is removed then', () => {
    assert.equal(isImageRemoved(null, new Date('2999-01-01')), false);
    assert.equal(isImageRemoved('2026-01-01', new Date('2026-03-31T23:59:59.999Z')), false);
    assert.equal(isImageRemoved('2026-01-01', new Date('2026-04-01T00:00:00Z')), true);
    assert.equal(isImageRemoved('2030-01-01', new Date('2026-01-01')), false);
    assert.equal(imageRemovalDay('2026-01-01'), '2026-04-01');
  });
});

describe('an ISO 9660 file', () => {
  it('an ISO 9660 file is recognized in chunks of any size, but only if it is complete', () => {
    const size = 17 * 2048;
    const cuts = fc.array(fc.nat({ max: size }), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, fc.nat({ max: size - 1 }), fc.nat({ max: 5 }), (places, shorter, broken) => {
        const at = places.sort((a, b) => a - b);
        const isIso = (file: Buffer) => {
          const probe = new IsoProbe();
          for (const [n, from] of [0, ...at].entries()) probe.push(file.subarray(from, at[n] ?? file.length));
          return probe.isIso();
        };
        assert.ok(isIso(isoFile()));
        assert.ok(!isIso(isoFile().subarray(0, shorter)));
        const other = isoFile();
        other[16 * 2048 + 1 + broken] = 0;
        assert.ok(!isIso(other));
      }),
      { numRuns: PROPERTY_RUNS, verbose: true },
    );
  });
});
