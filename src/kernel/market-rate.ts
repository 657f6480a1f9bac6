/**
 * One rate out of the prices of several sources: the median of those that are fresh, as long as there are enough of them and they
 * lie close together. One source that is wrong, or bought, cannot move the median beyond its neighbours; two that differ much
 * cannot be told apart, and then there is no rate.
 */
import { formatUnits, mulDiv, parseUnits } from './money.ts';
import { MINUTE_MS, SECOND_MS } from './time.ts';

export interface Price {
  readonly source: string;
  /** US dollars for one whole coin. */
  readonly usd: string;
  readonly quotedAt: Date;
}

export interface RateRules {
  readonly maxAgeS: number;
  /** Fresh prices that a rate needs. */
  readonly sourcesMin: number;
  /** Of the highest over the lowest, as a share of the median. */
  readonly maxSpreadPercent: number;
}

/** Whose prices count, and when they make a rate. */
export interface Market {
  readonly sources: readonly string[];
  readonly rules: RateRules;
}

export interface PriceEvaluation<P> {
  readonly fresh: readonly P[];
  /** How far these lie apart, rounded up to two digits; null when there are none. */
  readonly spreadPercent: string | null;
  /** The rate, or why there is none. */
  readonly rate: { readonly usd: string } | { readonly fault: string };
}

/** Digits after the point of a rate. */
const RATE_DIGITS = 12;
/** As many as a price may have. */
const PRICE_DIGITS = 30;
const PERCENT_DIGITS = 15;
/** What is quoted later than this after now is no news, but a clock that is wrong. */
export const MAX_CLOCK_SKEW_MS = MINUTE_MS;

export function evaluatePrices<P extends Price>(
  prices: readonly P[],
  rules: RateRules,
  now: Date,
): PriceEvaluation<P> {
  const fresh = prices.filter(({ quotedAt }) => isFresh(quotedAt, rules, now));
  const units = fresh.map(({ usd }) => priceUnits(usd)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [lowest, highest] = [units[0], units.at(-1)];
  if (lowest === undefined || highest === undefined) {
    return { fresh, spreadPercent: null, rate: { fault: describeTooFewPrices(fresh, rules) } };
  }
  const twiceMedian = priceAt(units, (units.length - 1) >> 1) + priceAt(units, units.length >> 1);
  const twiceSpread = 2n * (highest - lowest);
  const spreadPercent = formatUnits(mulDiv(twiceSpread, 10_000n, twiceMedian, 'up'), 2);
  const verdict = { fresh, spreadPercent };
  if (fresh.length < rules.sourcesMin)
    return { ...verdict, rate: { fault: describeTooFewPrices(fresh, rules) } };
  const allowed = parseUnits(String(rules.maxSpreadPercent), PERCENT_DIGITS);
  if (allowed === undefined) throw new RangeError('a spread that is no percentage');
  if (twiceSpread * 10n ** BigInt(PERCENT_DIGITS + 2) > allowed * twiceMedian) {
    const fault = `prices lie ${spreadPercent} % apart, ${rules.maxSpreadPercent} % is allowed: ${formatPrices(fresh)}`;
    return { ...verdict, rate: { fault } };
  }
  const usd = formatUnits(twiceMedian / (2n * 10n ** BigInt(PRICE_DIGITS - RATE_DIGITS)), RATE_DIGITS);
  return { ...verdict, rate: { usd } };
}

export function isFresh(quotedAt: Date, { maxAgeS }: Pick<RateRules, 'maxAgeS'>, now: Date): boolean {
  const ageMs = now.getTime() - quotedAt.getTime();
  return ageMs <= maxAgeS * SECOND_MS && ageMs >= -MAX_CLOCK_SKEW_MS;
}

function priceUnits(usd: string): bigint {
  const units = parseUnits(usd, PRICE_DIGITS);
  if (units === undefined || units === 0n) throw new RangeError('a price that is none');
  return units;
}

function priceAt(units: readonly bigint[], at: number): bigint {
  const unit = units[at];
  if (unit === undefined) throw new RangeError('no price in the middle');
  return unit;
}

function describeTooFewPrices(fresh: readonly Price[], { maxAgeS, sourcesMin }: RateRules): string {
  const needed = `not older than ${maxAgeS} s, ${sourcesMin} needed`;
  return fresh.length === 0
    ? `no price is ${needed}`
    : `${fresh.length} of the prices ${needed}: ${formatPrices(fresh)}`;
}

function formatPrices(prices: readonly Price[]): string {
  return prices.map(({ source, usd }) => `${source} ${usd}`).join(', ');
}
