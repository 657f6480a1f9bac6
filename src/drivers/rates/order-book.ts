/** The price that a book of offers makes: the middle between what is bid and what is asked. */
import { toPlainDecimal } from '../../kernel/exact-json.ts';
import { formatUnits, parseUnits } from '../../kernel/money.ts';
import type { BookQuote } from './feed-reader.ts';

/** As many as a price may have. */
const PRICE_DIGITS = 30;
const PERCENT_DIGITS = 15;

/**
 * Undefined where it makes none: a market that is halted, or that nobody trades on, has offers far apart or on one side only, and
 * its middle is nobody's price. Offers that cross are no book at all.
 */
export function midPrice({ bid, ask }: BookQuote, maxSpreadPercent: number): string | undefined {
  const [low, high] = [parsePrice(bid), parsePrice(ask)];
  if (low === undefined || high === undefined || low === 0n || low > high) return undefined;
  const allowed = parseUnits(String(maxSpreadPercent), PERCENT_DIGITS);
  if (allowed === undefined) throw new RangeError('a spread that is no percentage');
  const twiceSpread = 2n * (high - low);
  if (twiceSpread * 10n ** BigInt(PERCENT_DIGITS + 2) > allowed * (low + high)) return undefined;
  return formatUnits((low + high) / 2n, PRICE_DIGITS);
}

function parsePrice(value: unknown): bigint | undefined {
  const text = toPlainDecimal(value);
  return text === undefined ? undefined : parseUnits(text, PRICE_DIGITS);
}
