/**
 * `{error: [], result: {XXBTZUSD: {a: [ask, …], b: [bid, …], c: [price of the last trade, …], …}, …}}`, prices as text, no times: the
 * last trade may be of any day, so the book counts. A name that it does not know spoils the whole answer; all pairs are asked for
 * then, so that a coin which is taken off takes no other with it.
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
  throw new FeedError(errors.length > 0 ? `it answers ${errors.join(', ')}` : 'its answer has no prices');
};

/** Errors may come along with a result. */
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

/** Those in its own form only: they go to the log. */
function errorsOf(answer: unknown): readonly string[] {
  const errors: unknown = fieldOf(answer, 'error');
  if (!Array.isArray(errors)) return [];
  return errors
    .filter(
      (error): error is string => typeof error === 'string' && /^E[A-Za-z]+:[A-Za-z ]{1,60}$/.test(error),
    )
    .slice(0, 3);
}
