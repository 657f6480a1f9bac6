/**
 * `[[symbol, bid, its size, ask, its size, change, relative change, price of the last trade, …], …]`, no times: the last trade may
 * be of any day, so the book counts.
 */
import { FeedError } from '../../../ports/rates.ts';
import type { Shape, Told } from '../shape.ts';

export const bitfinex: Shape = async (ask, names) => {
  const answer = await ask(`/v2/tickers?symbols=${names.join(',')}`);
  if (!Array.isArray(answer)) throw new FeedError('its answer has no prices');
  return new Map(
    (answer as unknown[]).flatMap((ticker): [string, Told][] => {
      const [symbol, bid, , asked] = Array.isArray(ticker) ? (ticker as unknown[]) : [];
      return typeof symbol === 'string' ? [[symbol, { bid, ask: asked }]] : [];
    }),
  );
};
