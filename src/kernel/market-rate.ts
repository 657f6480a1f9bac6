/**
 * Computes one rate from the prices of several sources: the median of the fresh prices, provided there are
 * enough of them and they are close together. A single wrong or manipulated source cannot move the median
 * beyond its neighbors. Between two that differ widely, the wrong one cannot be identified, so there is no
 * rate.
 */
import { formatUnits, mulDiv, parseDecimal, parseUnits } from './money.ts';
import { MINUTE_MS, SECOND_MS } from './time.ts';

export interface Price {
  readonly source: string;
  /** US dollars per whole coin. */
  readonly usd: string;
  readonly quotedAt: Date;
}

export interface RateRules {
  readonly maxAgeS: number;
  /** The minimum number of fresh prices. */
  readonly sourcesMin: number;
  /** The maximum difference between the highest and the lowest price, in percent of the median. */
  readonly maxSpreadPercent: number;
}

/** The sources of prices, and the rules for a rate. */
export interface Market {
  readonly sources: readonly string[];
  readonly rules: RateRules;
}

export interface PriceEvaluation<P> {
  readonly fresh: readonly P[];
  /** The difference between the highest and the lowest, rounded up to two digits; null without prices. */
  readonly spreadPercent: string | null;
  /** The rate, or why there is none. */
  readonly rate: { readonly usd: string } | { readonly fault: string };
}

/** Decimals of a rate. */
const RATE_DIGITS = 12;
/** The maximum decimals of a price. */
const PRICE_DIGITS = 30;
const PERCENT_DIGITS = 15;
/** A quote further in the future than this is ignored: the source's clock is wrong. */
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
  if (allowed === undefined) throw new RangeError('the maximum spread is not a percentage');
  if (twiceSpread * 10n ** BigInt(PERCENT_DIGITS + 2) > allowed * twiceMedian) {
    const limit = `above the limit of ${rules.maxSpreadPercent}%`;
    const fault = `prices differ by ${spreadPercent}%, ${limit}: ${formatPrices(fresh)}`;
    return { ...verdict, rate: { fault } };
  }
  const usd = formatUnits(twiceMedian / (2n * 10n ** BigInt(PRICE_DIGITS - RATE_DIGITS)), RATE_DIGITS);
  return { ...verdict, rate: { usd } };
}

export function isFresh(quotedAt: Date, { maxAgeS }: Pick<RateRules, 'maxAgeS'>, now: Date): boolean {
  const ageMs = now.getTime() - quotedAt.getTime();
  return ageMs <= maxAgeS * SECOND_MS && ageMs >= -MAX_CLOCK_SKEW_MS;
}

const EUR_DIGITS = 6;

/** Inverts dollars per euro, rounded to six digits. The result is displayed, never charged. */
export function invertRate(usdPerEur: string): string {
  const rate = parseDecimal(usdPerEur);
  if (!rate || rate.digits === 0n) throw new RangeError('invalid euro rate');
  return formatUnits(mulDiv(10n ** BigInt(EUR_DIGITS), rate.scale, rate.digits, 'half_up'), EUR_DIGITS);
}

function priceUnits(usd: string): bigint {
  const units = parseUnits(usd, PRICE_DIGITS);
  if (units === undefined || units === 0n) throw new RangeError('the price is not a positive decimal');
  return units;
}

function priceAt(units: readonly bigint[], at: number): bigint {
  const unit = units[at];
  if (unit === undefined) throw new RangeError(`no price at rank ${at}`);
  return unit;
}

function describeTooFewPrices(fresh: readonly Price[], { maxAgeS, sourcesMin }: RateRules): string {
  const rule = `from the last ${maxAgeS} s, ${sourcesMin} required`;
  if (fresh.length === 0) return `no prices ${rule}`;
  return `${fresh.length} ${fresh.length === 1 ? 'price' : 'prices'} ${rule}: ${formatPrices(fresh)}`;
}

function formatPrices(prices: readonly Price[]): string {
  return prices.map(({ source, usd }) => `${source} ${usd}`).join(', ');
}
