/**
 * Bitfinex tickers: `[[symbol, bid, bid size, ask, ask size, change, relative change, last price, …], …]`.
 * They have no times, and the last trade may be old, so the bid and the ask are used.
 */
import { FeedError } from '../../../ports/rates.ts';
import type { FeedQuote, FeedReader } from '../feed-reader.ts';

export const bitfinex: FeedReader = async (fetchJson, symbols) => {
  const answer = await fetchJson(`/v2/tickers?symbols=${symbols.join(',')}`);
  if (!Array.isArray(answer)) throw new FeedError('response has no prices');
  return new Map(
    (answer as unknown[]).flatMap((ticker): [string, FeedQuote][] => {
      const [symbol, bid, , askPrice] = Array.isArray(ticker) ? (ticker as unknown[]) : [];
      return typeof symbol === 'string' ? [[symbol, { bid, ask: askPrice }]] : [];
    }),
  );
};
