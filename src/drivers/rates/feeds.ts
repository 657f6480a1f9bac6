/** The price feeds. Each has its own reader; bounds and the plausibility of a price are common. */
import { parseExactJson, toPlainDecimal } from '../../kernel/exact-json.ts';
import { parseDecimal } from '../../kernel/money.ts';
import type { QuoteSourceConfig } from '../../kernel/settings/lists.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { FeedError, type FeedPrice, type QuoteFeed } from '../../ports/rates.ts';
import {
  type PricedCoin,
  QUOTE_SOURCES,
  type QuoteSource,
  type QuoteSourceName,
} from '../../spec/quote-sources.ts';
import type { FeedQuote, FeedReader } from './feed-reader.ts';
import { bitfinex } from './feeds/bitfinex.ts';
import { coinbase } from './feeds/coinbase.ts';
import { coingecko } from './feeds/coingecko.ts';
import { kraken } from './feeds/kraken.ts';
import { fetchFeed } from './fetch-feed.ts';
import { midPrice } from './order-book.ts';

const FEED_READERS: Readonly<Record<QuoteSourceName, FeedReader>> = { kraken, bitfinex, coinbase, coingecko };

/** For all requests of one round. */
const TIMEOUT_MS = 8 * SECOND_MS;
/** Kraken's response for all pairs has about 500 KB. */
const RESPONSE_MAX_BYTES = 2 * 1024 ** 2;
/** No coin is worth this much or this little: such a quote is a mistake of the source. */
const USD_LIMIT = 1_000_000_000n;
const MIN_USD_DIVISOR = 1_000_000n;

export interface FeedOptions {
  /** Maximum difference between a source's bid and ask. */
  readonly maxSpreadPercent: number;
  readonly timeoutMs?: number;
}

export function quoteFeeds(
  sources: readonly QuoteSourceConfig[],
  options: FeedOptions,
): readonly QuoteFeed[] {
  return sources.map((source) => new HttpFeed(source, options));
}

class HttpFeed implements QuoteFeed {
  readonly source: QuoteSourceName;
  readonly intervalS: number;
  readonly #url: string;
  readonly #pairs: QuoteSource['symbols'];
  readonly #timeoutMs: number;
  readonly #maxSpreadPercent: number;

  constructor({ name, url }: QuoteSourceConfig, { maxSpreadPercent, timeoutMs = TIMEOUT_MS }: FeedOptions) {
    const { intervalS, symbols } = QUOTE_SOURCES[name];
    this.source = name;
    this.intervalS = intervalS;
    this.#url = url;
    this.#pairs = symbols;
    this.#timeoutMs = timeoutMs;
    this.#maxSpreadPercent = maxSpreadPercent;
  }

  async read(
    coins: readonly PricedCoin[],
    stop: AbortSignal,
  ): Promise<{ readonly prices: readonly FeedPrice[]; readonly missing: readonly PricedCoin[] }> {
    const symbols = new Map(coins.flatMap((coin) => this.#pairFor(coin)));
    if (symbols.size === 0) return { prices: [], missing: [] };
    const signal = AbortSignal.any([stop, AbortSignal.timeout(this.#timeoutMs)]);
    const quotes = await FEED_READERS[this.source](
      (path) => this.#fetchJson(path, signal),
      [...symbols.values()],
    );
    const read = [...symbols].map(([coin, name]) => ({ coin, price: this.#priceOf(coin, quotes.get(name)) }));
    return {
      prices: read.flatMap(({ price }) => price ?? []),
      missing: read.flatMap(({ coin, price }) => (price === undefined ? [coin] : [])),
    };
  }

  #pairFor(coin: PricedCoin): [PricedCoin, string][] {
    const name = this.#pairs[coin];
    return name === undefined ? [] : [[coin, name]];
  }

  #priceOf(coin: PricedCoin, quote: FeedQuote | undefined): FeedPrice | undefined {
    if (quote === undefined) return undefined;
    const isBook = 'bid' in quote;
    const usd = isBook ? midPrice(quote, this.#maxSpreadPercent) : toPlainDecimal(quote.usd);
    const at = isBook ? null : quote.at;
    return usd === undefined || at === undefined || !isPlausiblePrice(usd) ? undefined : { coin, usd, at };
  }

  async #fetchJson(path: string, signal: AbortSignal): Promise<unknown> {
    const request = { signal, maxBytes: RESPONSE_MAX_BYTES, accept: 'application/json' };
    const text = await fetchFeed(this.#url + path, request);
    try {
      return parseExactJson(text);
    } catch {
      throw new FeedError('response is not JSON');
    }
  }
}

function isPlausiblePrice(usd: string): boolean {
  const { digits, scale } = parseDecimal(usd) ?? { digits: 0n, scale: 1n };
  return digits * MIN_USD_DIVISOR >= scale && digits < USD_LIMIT * scale;
}
