/** The price in an order book: the midpoint of bid and ask. */
import { toPlainDecimal } from '../../kernel/exact-json.ts';
import { formatUnits, parseUnits } from '../../kernel/money.ts';
import type { BookQuote } from './feed-reader.ts';

/** Maximum decimal places of a price. */
const PRICE_DIGITS = 30;
const PERCENT_DIGITS = 15;

/**
 * Returns undefined if the book has no usable price: a halted or illiquid market has offers far apart or on
 * one side only, and its midpoint is meaningless. A crossed book is invalid.
 */
export function midPrice({ bid, ask }: BookQuote, maxSpreadPercent: number): string | undefined {
  const [low, high] = [parsePrice(bid), parsePrice(ask)];
  if (low === undefined || high === undefined || low === 0n || low > high) return undefined;
  const allowed = parseUnits(String(maxSpreadPercent), PERCENT_DIGITS);
  if (allowed === undefined) throw new RangeError('maxSpreadPercent is not a percentage');
  const twiceSpread = 2n * (high - low);
  if (twiceSpread * 10n ** BigInt(PERCENT_DIGITS + 2) > allowed * (low + high)) return undefined;
  return formatUnits((low + high) / 2n, PRICE_DIGITS);
}

function parsePrice(value: unknown): bigint | undefined {
  const text = toPlainDecimal(value);
  return text === undefined ? undefined : parseUnits(text, PRICE_DIGITS);
}
