/**
 * `{error: [], result: {XXBTZUSD: {a: [ask, …], b: [bid, …], c: [last price, …], …}, …}}`, prices as strings.
 * There are no times, and the last trade may be old, so the order book is used. One unknown name fails the
 * whole request. Then all pairs are requested, so that a delisted coin doesn't take down the others.
 */
import { FeedError } from '../../../ports/rates.ts';
import { type FeedQuote, type FeedReader, fieldOf } from '../feed-reader.ts';

const UNKNOWN_PAIR = 'EQuery:Unknown asset pair';

export const kraken: FeedReader = async (fetchJson, names) => {
  const answer = await fetchJson(`/0/public/Ticker?pair=${names.join(',')}`);
  const quotes = readQuotes(answer, names);
  if (quotes.size > 0) return quotes;
  const errors = errorsOf(answer);
  if (errors.includes(UNKNOWN_PAIR)) return readQuotes(await fetchJson('/0/public/Ticker'), names);
  throw new FeedError(errors.length > 0 ? `responded with ${errors.join(', ')}` : 'response has no prices');
};

/** Reads the quotes; a response with errors may still have some. */
function readQuotes(answer: unknown, names: readonly string[]): ReadonlyMap<string, FeedQuote> {
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
function errorsOf(answer: unknown): readonly string[] {
  const errors: unknown = fieldOf(answer, 'error');
  if (!Array.isArray(errors)) return [];
  return errors
    .filter(
      (error): error is string => typeof error === 'string' && /^E[A-Za-z]+:[A-Za-z ]{1,60}$/.test(error),
    )
    .slice(0, 3);
}
