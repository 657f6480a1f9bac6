/** Reads the price feeds: bounds and the plausibility of a price are common to all of them. */
import { parseExactJson, toPlainDecimal } from '../../kernel/exact-json.ts';
import { formatUnits, parseDecimal, parseUnits } from '../../kernel/money.ts';
import type { QuoteSourceConfig } from '../../kernel/settings/lists.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { FeedError, type FeedPrice, type QuoteFeed } from '../../ports/rates.ts';
import { type PricedCoin, QUOTE_SOURCES, type QuoteSource } from '../../spec/quote-sources.ts';
import { type BookQuote, FEED_READERS, type FeedQuote } from './feed-readers.ts';
import { fetchFeed } from './fetch-feed.ts';

/** For all requests of one round. */
const TIMEOUT_MS = 8 * SECOND_MS;
/** Kraken's response for all pairs has about 500 KB. */
const RESPONSE_MAX_BYTES = 2 * 1024 ** 2;
/** No coin is worth this much or this little: such a quote is a mistake of the source. */
const USD_LIMIT = 1_000_000_000n;
const MIN_USD_DIVISOR = 1_000_000n;
/** Maximum decimal places of a price. */
const PRICE_DIGITS = 30;
const PERCENT_DIGITS = 15;

export interface FeedOptions {
  /** Maximum difference between a source's bid and ask. */
  readonly maxSpreadPercent: number;
  readonly timeoutMs?: number;
}

export function quoteFeeds(
  sources: readonly QuoteSourceConfig[],
  options: FeedOptions,
): readonly QuoteFeed[] {
  return sources.map((source) => quoteFeed(source, options));
}

function quoteFeed({ name, url }: QuoteSourceConfig, options: FeedOptions): QuoteFeed {
  const { intervalS, symbols }: QuoteSource = QUOTE_SOURCES[name];
  return {
    source: name,
    intervalS,
    read: async (coins, stop) => {
      const listed = coins.flatMap((coin) => {
        const symbol = symbols[coin];
        return symbol === undefined ? [] : [{ coin, symbol }];
      });
      if (listed.length === 0) return { prices: [], missing: [] };
      const signal = AbortSignal.any([stop, AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)]);
      const quotes = await FEED_READERS[name](
        (path) => fetchJson(url + path, signal),
        listed.map(({ symbol }) => symbol),
      );
      const read = listed.map(({ coin, symbol }) => {
        return { coin, price: priceOf(coin, quotes.get(symbol), options.maxSpreadPercent) };
      });
      return {
        prices: read.flatMap(({ price }) => price ?? []),
        missing: read.flatMap(({ coin, price }) => (price === undefined ? [coin] : [])),
      };
    },
  };
}

function priceOf(
  coin: PricedCoin,
  quote: FeedQuote | undefined,
  maxSpreadPercent: number,
): FeedPrice | undefined {
  if (quote === undefined) return undefined;
  const isBook = 'bid' in quote;
  const usd = isBook ? midPrice(quote, maxSpreadPercent) : toPlainDecimal(quote.usd);
  const at = isBook ? null : quote.at;
  return usd === undefined || at === undefined || !isPlausiblePrice(usd) ? undefined : { coin, usd, at };
}

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const text = await fetchFeed(url, { signal, maxBytes: RESPONSE_MAX_BYTES, accept: 'application/json' });
  try {
    return parseExactJson(text);
  } catch {
    throw new FeedError('response is not JSON');
  }
}

function isPlausiblePrice(usd: string): boolean {
  const { digits, scale } = parseDecimal(usd) ?? { digits: 0n, scale: 1n };
  return digits * MIN_USD_DIVISOR >= scale && digits < USD_LIMIT * scale;
}

/**
 * Returns the midpoint of bid and ask. Undefined if the book has no usable price: a halted or illiquid market
 * has offers far apart or on one side only, and its midpoint is meaningless. A crossed book is invalid.
 */
function midPrice({ bid, ask }: BookQuote, maxSpreadPercent: number): string | undefined {
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
