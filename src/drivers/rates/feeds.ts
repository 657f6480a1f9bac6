/** The feeds of prices: one shape each, and what is true of all: bounds, and what a price is. */
import { decimalText, parseExact } from '../../kernel/exact-json.ts';
import { parseDecimal } from '../../kernel/money.ts';
import type { AskedSource } from '../../kernel/quote-sources.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { FeedError, type FeedPrice, type QuoteFeed } from '../../ports/rates.ts';
import {
  type PricedCoin,
  QUOTE_SOURCES,
  type QuoteSource,
  type QuoteSourceName,
} from '../../spec/quote-sources.ts';
import { askFeed } from './ask.ts';
import { middleOf } from './book.ts';
import { bitfinex } from './feeds/bitfinex.ts';
import { coinbase } from './feeds/coinbase.ts';
import { coingecko } from './feeds/coingecko.ts';
import { kraken } from './feeds/kraken.ts';
import type { Shape, Told } from './shape.ts';

const SHAPES: Readonly<Record<QuoteSourceName, Shape>> = { kraken, bitfinex, coinbase, coingecko };

/** For all questions of one round. */
const TIMEOUT_MS = 8 * SECOND_MS;
/** Kraken's answer for all pairs is some 500 KB. */
const ANSWER_MAX_BYTES = 2 * 1024 ** 2;
/** No coin is worth as much, and none as little: a source that says so is mistaken. */
const USD_BELOW = 1_000_000_000n;
const USD_LEAST_PART = 1_000_000n;

export interface FeedOptions {
  /** How far bid and ask of one source may lie apart. */
  readonly maxSpreadPercent: number;
  readonly timeoutMs?: number;
}

export function quoteFeeds(sources: readonly AskedSource[], options: FeedOptions): readonly QuoteFeed[] {
  return sources.map((source) => new HttpFeed(source, options));
}

class HttpFeed implements QuoteFeed {
  readonly source: QuoteSourceName;
  readonly everyS: number;
  readonly #url: string;
  readonly #names: QuoteSource['names'];
  readonly #timeoutMs: number;
  readonly #maxSpreadPercent: number;

  constructor({ name, url }: AskedSource, { maxSpreadPercent, timeoutMs = TIMEOUT_MS }: FeedOptions) {
    const { everyS, names } = QUOTE_SOURCES[name];
    this.source = name;
    this.everyS = everyS;
    this.#url = url;
    this.#names = names;
    this.#timeoutMs = timeoutMs;
    this.#maxSpreadPercent = maxSpreadPercent;
  }

  async read(
    coins: readonly PricedCoin[],
    stop: AbortSignal,
  ): Promise<{ readonly prices: readonly FeedPrice[]; readonly missing: readonly PricedCoin[] }> {
    const names = new Map(coins.flatMap((coin) => this.#named(coin)));
    if (names.size === 0) return { prices: [], missing: [] };
    const signal = AbortSignal.any([stop, AbortSignal.timeout(this.#timeoutMs)]);
    const told = await SHAPES[this.source]((path) => this.#ask(path, signal), [...names.values()]);
    const read = [...names].map(([coin, name]) => ({ coin, price: this.#priceOf(coin, told.get(name)) }));
    return {
      prices: read.flatMap(({ price }) => price ?? []),
      missing: read.flatMap(({ coin, price }) => (price === undefined ? [coin] : [])),
    };
  }

  #named(coin: PricedCoin): [PricedCoin, string][] {
    const name = this.#names[coin];
    return name === undefined ? [] : [[coin, name]];
  }

  #priceOf(coin: PricedCoin, told: Told | undefined): FeedPrice | undefined {
    if (told === undefined) return undefined;
    const isBook = 'bid' in told;
    const usd = isBook ? middleOf(told, this.#maxSpreadPercent) : decimalText(told.usd);
    const at = isBook ? null : told.at;
    return usd === undefined || at === undefined || !isPrice(usd) ? undefined : { coin, usd, at };
  }

  async #ask(path: string, signal: AbortSignal): Promise<unknown> {
    const asked = { signal, maxBytes: ANSWER_MAX_BYTES, accept: 'application/json' };
    const text = await askFeed(this.#url + path, asked);
    try {
      return parseExact(text);
    } catch {
      throw new FeedError('its answer is no JSON');
    }
  }
}

function isPrice(usd: string): boolean {
  const { digits, scale } = parseDecimal(usd) ?? { digits: 0n, scale: 1n };
  return digits * USD_LEAST_PART >= scale && digits < USD_BELOW * scale;
}
