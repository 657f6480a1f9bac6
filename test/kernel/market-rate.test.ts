import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { evaluatePrices, type Price, type RateRules } from '../../src/kernel/market-rate.ts';
import { parseDecimal, parseUnits } from '../../src/kernel/money.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

const NOW = new Date('2030-05-01T12:00:00Z');
const RULES: RateRules = { maxAgeS: 300, sourcesMin: 2, maxSpreadPercent: 3 };

function price(usd: string, ageS = 0, source = `source of ${usd}`): Price {
  return { source, usd, quotedAt: new Date(NOW.getTime() - ageS * 1_000) };
}

function evaluate(texts: readonly string[], rules: Partial<RateRules> = {}) {
  return evaluatePrices(
    texts.map((usd) => price(usd)),
    { ...RULES, ...rules },
    NOW,
  );
}

function evaluateRate(texts: readonly string[], rules: Partial<RateRules> = {}): string {
  const { rate } = evaluate(texts, rules);
  return 'usd' in rate ? rate.usd : assert.fail(rate.fault);
}

function evaluateFault(prices: readonly Price[], rules: Partial<RateRules> = {}): string {
  const { rate } = evaluatePrices(prices, { ...RULES, ...rules }, NOW);
  return 'fault' in rate ? rate.fault : assert.fail(`unexpected rate ${rate.usd}`);
}

describe('a rate', () => {
  it('a rate is the middle price, or the mean of the two middle prices', () => {
    assert.equal(evaluateRate(['60001', '60000', '60002']), '60001');
    assert.equal(evaluateRate(['60000', '60001']), '60000.5');
    assert.equal(evaluateRate(['60000', '60003', '60000.5', '60001']), '60000.75');
    assert.equal(evaluateRate(['0.25'], { sourcesMin: 1 }), '0.25');
  });

  it('a rate has at most twelve decimals, rounded down, and keeps every integer digit', () => {
    assert.equal(evaluateRate(['0.120000000001', '0.120000000002']), '0.120000000001');
    assert.equal(evaluateRate(['0.1234567890129', '0.1234567890129']), '0.123456789012');
    assert.equal(
      evaluateRate(['123456789.123456789012', '123456789.123456789012']),
      '123456789.123456789012',
    );
    assert.equal(evaluateRate(['60010.10000', '60010.1']), '60010.1');
  });

  it('a rate requires a minimum number of fresh prices', () => {
    assert.match(
      evaluateFault([price('1', 0, 'kraken')]),
      /^1 price from the last 300 s, 2 required: kraken 1$/,
    );
    assert.match(evaluateFault([]), /^no prices from the last 300 s, 2 required$/);
    assert.equal(evaluate([]).spreadPercent, null);
  });

  it('a rate ignores prices that are too old or in the future', () => {
    const prices = [price('100', 300), price('101', 300.001), price('102', -60), price('103', -60.001)];
    const { fresh, rate } = evaluatePrices(prices, RULES, NOW);
    assert.deepEqual(
      fresh.map(({ usd }) => usd),
      ['100', '102'],
    );
    assert.deepEqual(rate, { usd: '101' });
  });

  it('there is no rate when the spread exceeds the limit, even slightly', () => {
    // Three percent of the median of 100, and a trillionth more.
    assert.equal(evaluateRate(['98.5', '101.5']), '100');
    assert.equal(evaluateRate(['98.5', '100', '101.5']), '100');
    const exceeding = evaluate(['98.5', '100', '101.500000000001']);
    assert.ok('fault' in exceeding.rate);
    assert.match(
      exceeding.rate.fault,
      /^prices differ by 3\.01%, above the limit of 3%: .*98\.5, .*100, .*101\.500000000001$/,
    );
    assert.equal(evaluateRate(['99.99', '100', '100'], { maxSpreadPercent: 0.01 }), '100');
    assert.ok('fault' in evaluate(['99.9899', '100', '100'], { maxSpreadPercent: 0.01 }).rate);
  });

  it('the spread of the prices is reported in percent', () => {
    assert.equal(evaluate(['100', '100']).spreadPercent, '0');
    assert.equal(evaluate(['60000', '60001']).spreadPercent, '0.01');
    assert.equal(evaluate(['100', '101', '102']).spreadPercent, '1.99');
  });

  it('a rate is never computed from an invalid price', () => {
    for (const usd of ['0', '0.0', '', '-1', 'x', '1e3'])
      assert.throws(() => evaluate([usd, '1']), RangeError, usd);
  });
});

/** A price from a millionth of a dollar to a hundred billion, with up to 12 decimals. */
const usd = fc
  .tuple(
    fc.bigInt({ min: 1n, max: 10n ** 11n }),
    fc.integer({ min: 0, max: 6 }),
    fc.integer({ min: 0, max: 999_999 }),
  )
  .map(([digits, decimals, more]) => {
    const text = digits.toString().padStart(decimals + 1, '0');
    const fraction = `${decimals === 0 ? '' : text.slice(-decimals)}${more}`;
    return `${decimals === 0 ? text : text.slice(0, -decimals)}.${fraction}`;
  })
  .filter((text) => (parseDecimal(text)?.digits ?? 0n) > 0n);
const many = fc.array(usd, { minLength: 1, maxLength: 7 });
const ANY_SPREAD = { sourcesMin: 1, maxSpreadPercent: 1e20 };
const DIGITS = 40;

/** The reference model: exact integers of 10^-40 dollars, selected one by one from the lowest. */
function ranked(texts: readonly string[]): readonly bigint[] {
  const left = texts.map((text) => {
    const { digits, scale } = parseDecimal(text) ?? assert.fail(text);
    return (digits * 10n ** BigInt(DIGITS)) / scale;
  });
  const ordered: bigint[] = [];
  while (left.length > 0) {
    const least = left.reduce((a, b) => (b < a ? b : a));
    ordered.push(least);
    left.splice(left.indexOf(least), 1);
  }
  return ordered;
}

function atRank(order: readonly bigint[], rank: number): bigint {
  return order[rank] ?? assert.fail(`no price at rank ${rank}`);
}

describe('properties of rates', () => {
  const check = (body: (texts: readonly string[]) => void) =>
    fc.assert(fc.property(many, body), { numRuns: 20 * PROPERTY_RUNS });

  it('a rate is at most the median, and less than a trillionth below it', () =>
    check((texts) => {
      const order = ranked(texts);
      const n = order.length;
      const twice = atRank(order, Math.ceil(n / 2) - 1) + atRank(order, Math.floor(n / 2));
      const twiceRate = 2n * (parseUnits(evaluateRate(texts, ANY_SPREAD), DIGITS) ?? assert.fail());
      assert.ok(twiceRate <= twice && twice - twiceRate < 2n * 10n ** BigInt(DIGITS - 12));
    }));

  it('a rate does not depend on the order of the prices', () =>
    check((texts) => {
      assert.equal(evaluateRate([...texts].reverse(), ANY_SPREAD), evaluateRate(texts, ANY_SPREAD));
      assert.equal(evaluateRate([...texts].sort(), ANY_SPREAD), evaluateRate(texts, ANY_SPREAD));
    }));

  it('there is a rate exactly when the spread is not greater than allowed', () => {
    const percent = fc.integer({ min: 1, max: 10_000 }).map((hundredths) => hundredths / 100);
    const near = fc.tuple(
      fc.bigInt({ min: 10n ** 6n, max: 10n ** 9n }),
      fc.array(fc.integer({ min: 0, max: 80_000 })),
    );
    fc.assert(
      fc.property(near, percent, ([base, above], maxSpreadPercent) => {
        const texts = [
          base,
          ...above.slice(0, 6).map((more) => base + BigInt(more) * (base / 10n ** 6n)),
        ].map(String);
        const order = ranked(texts);
        const n = order.length;
        const twice = atRank(order, Math.ceil(n / 2) - 1) + atRank(order, Math.floor(n / 2));
        const spread = atRank(order, n - 1) - atRank(order, 0);
        const fits = 2n * spread * 10_000n <= BigInt(Math.round(maxSpreadPercent * 100)) * twice;
        assert.equal('usd' in evaluate(texts, { sourcesMin: 1, maxSpreadPercent }).rate, fits);
      }),
      { numRuns: 20 * PROPERTY_RUNS },
    );
  });

  it('one source of three or more cannot move the rate beyond the prices of the others', () => {
    fc.assert(
      fc.property(fc.array(usd, { minLength: 2, maxLength: 6 }), usd, (honest, lie) => {
        const rate = parseUnits(evaluateRate([...honest, lie], ANY_SPREAD), DIGITS) ?? assert.fail();
        const order = ranked(honest);
        assert.ok(rate <= atRank(order, order.length - 1));
        assert.ok(rate + 10n ** BigInt(DIGITS - 12) > atRank(order, 0));
      }),
      { numRuns: 20 * PROPERTY_RUNS },
    );
  });
});
