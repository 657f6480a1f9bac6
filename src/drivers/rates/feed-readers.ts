/**
 * The price feeds: what each is asked, and how its response is read. Values stay as `parseExactJson` reads
 * them; `feeds.ts` decides whether they are prices.
 */
import { parseRfc3339, SECOND_MS } from '../../kernel/time.ts';
import { FeedError } from '../../ports/rates.ts';
import type { QuoteSourceName } from '../../spec/quote-sources.ts';

/** The last trade. */
export interface TradeQuote {
  readonly usd: unknown;
  /** Undefined if the feed has no readable time. */
  readonly at: Date | undefined;
}

/** The best bid and ask. Unlike a last trade without a time, which may be old, a book is current. */
export interface BookQuote {
  readonly bid: unknown;
  readonly ask: unknown;
}

export type FeedQuote = TradeQuote | BookQuote;

/** Fetches the JSON at a path of the feed. Throws FeedError. */
type FetchJson = (path: string) => Promise<unknown>;
type Quotes = ReadonlyMap<string, FeedQuote>;

/** Each reads the quotes for those symbols that the feed knows. */
export const FEED_READERS: Readonly<
  Record<QuoteSourceName, (fetchJson: FetchJson, symbols: readonly string[]) => Promise<Quotes>>
> = { kraken: readKraken, bitfinex: readBitfinex, coinbase: readCoinbase, coingecko: readCoinGecko };

const UNKNOWN_PAIR = 'EQuery:Unknown asset pair';

/**
 * `{error: [], result: {XXBTZUSD: {a: [ask, …], b: [bid, …], c: [last price, …], …}, …}}`, prices as strings.
 * There are no times, and the last trade may be old, so the order book is used. One unknown name fails the
 * whole request. Then all pairs are requested, so that a delisted coin doesn't take down the others.
 */
async function readKraken(fetchJson: FetchJson, names: readonly string[]): Promise<Quotes> {
  const answer = await fetchJson(`/0/public/Ticker?pair=${names.join(',')}`);
  const quotes = krakenQuotes(answer, names);
  if (quotes.size > 0) return quotes;
  const errors = krakenErrors(answer);
  if (errors.includes(UNKNOWN_PAIR)) return krakenQuotes(await fetchJson('/0/public/Ticker'), names);
  throw new FeedError(errors.length > 0 ? `responded with ${errors.join(', ')}` : 'response has no prices');
}

/** Reads the quotes; a response with errors may still have some. */
function krakenQuotes(answer: unknown, names: readonly string[]): Quotes {
  const result = fieldOf(answer, 'result');
  return new Map(
    names.flatMap((name): [string, FeedQuote][] => {
      const pair = fieldOf(result, name);
      const [bids, asks] = [fieldOf(pair, 'b'), fieldOf(pair, 'a')];
      return Array.isArray(bids) && Array.isArray(asks) ? [[name, { bid: bids[0], ask: asks[0] }]] : [];
    }),
  );
}

/** Returns only errors in Kraken's own format, because they are logged. */
function krakenErrors(answer: unknown): readonly string[] {
  const errors: unknown = fieldOf(answer, 'error');
  if (!Array.isArray(errors)) return [];
  return errors
    .filter(
      (error): error is string => typeof error === 'string' && /^E[A-Za-z]+:[A-Za-z ]{1,60}$/.test(error),
    )
    .slice(0, 3);
}

/**
 * Bitfinex tickers: `[[symbol, bid, bid size, ask, ask size, change, relative change, last price, …], …]`.
 * They have no times, and the last trade may be old, so the bid and the ask are used.
 */
async function readBitfinex(fetchJson: FetchJson, symbols: readonly string[]): Promise<Quotes> {
  const answer = await fetchJson(`/v2/tickers?symbols=${symbols.join(',')}`);
  if (!Array.isArray(answer)) throw new FeedError('response has no prices');
  return new Map(
    (answer as unknown[]).flatMap((ticker): [string, FeedQuote][] => {
      const [symbol, bid, , askPrice] = Array.isArray(ticker) ? (ticker as unknown[]) : [];
      return typeof symbol === 'string' ? [[symbol, { bid, ask: askPrice }]] : [];
    }),
  );
}

/** One request per pair: `{price: last price, time: its time, …}`, the price as a string. */
async function readCoinbase(fetchJson: FetchJson, names: readonly string[]): Promise<Quotes> {
  const answers = await Promise.allSettled(names.map((name) => fetchCoinbaseTrade(fetchJson, name)));
  const quotes = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const [first] = answers;
  // If all of them failed, the source failed, not a single pair.
  if (quotes.length === 0 && first?.status === 'rejected') throw first.reason;
  return new Map(quotes);
}

async function fetchCoinbaseTrade(fetchJson: FetchJson, name: string): Promise<[string, FeedQuote]> {
  const answer = await fetchJson(`/products/${name}/ticker`);
  const time = fieldOf(answer, 'time');
  const at = typeof time === 'string' ? parseRfc3339(time) : undefined;
  return [name, { usd: fieldOf(answer, 'price'), at }];
}

const OPTIONS = 'vs_currencies=usd&include_last_updated_at=true&precision=full';
/** The largest number of seconds that fits in a Date. */
const LATEST_S = 1e11;

/** `{bitcoin: {usd: price, last_updated_at: seconds}, …}`; unknown coins are left out. */
async function readCoinGecko(fetchJson: FetchJson, names: readonly string[]): Promise<Quotes> {
  const answer = await fetchJson(`/api/v3/simple/price?ids=${names.join(',')}&${OPTIONS}`);
  return new Map(
    names.flatMap((name): [string, FeedQuote][] => {
      const coin = fieldOf(answer, name);
      return coin === undefined ? [] : [[name, { usd: fieldOf(coin, 'usd'), at: updatedAt(coin) }]];
    }),
  );
}

function updatedAt(coin: unknown): Date | undefined {
  const seconds = fieldOf(coin, 'last_updated_at');
  return typeof seconds === 'number' && seconds > 0 && seconds < LATEST_S
    ? new Date(seconds * SECOND_MS)
    : undefined;
}

/** Returns an own field of an untrusted object, or undefined. */
function fieldOf(value: unknown, name: string): unknown {
  const isRecord = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isRecord ? (value as Record<string, unknown>)[name] : undefined;
}
