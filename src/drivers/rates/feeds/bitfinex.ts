/**
 * `[[symbol, bid, its size, ask, its size, change, relative change, price of the last trade, …], …]`, no times: the last trade may
 * be of any day, so the book counts.
 */
import { FeedError } from '../../../ports/rates.ts';
import type { FeedQuote, FeedReader } from '../feed-reader.ts';

export const bitfinex: FeedReader = async (fetchJson, names) => {
  const answer = await fetchJson(`/v2/tickers?symbols=${names.join(',')}`);
  if (!Array.isArray(answer)) throw new FeedError('its answer has no prices');
  return new Map(
    (answer as unknown[]).flatMap((ticker): [string, FeedQuote][] => {
      const [symbol, bid, , askPrice] = Array.isArray(ticker) ? (ticker as unknown[]) : [];
      return typeof symbol === 'string' ? [[symbol, { bid, ask: askPrice }]] : [];
    }),
  );
};
