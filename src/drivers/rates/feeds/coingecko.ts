/** `{bitcoin: {usd: price, last_updated_at: seconds}, …}`; unknown coins are left out. */
import { SECOND_MS } from '../../../kernel/time.ts';
import { type FeedQuote, type FeedReader, fieldOf } from '../feed-reader.ts';

const OPTIONS = 'vs_currencies=usd&include_last_updated_at=true&precision=full';
/** The largest number of seconds that fits in a Date. */
const LATEST_S = 1e11;

export const coingecko: FeedReader = async (fetchJson, names) => {
  const answer = await fetchJson(`/api/v3/simple/price?ids=${names.join(',')}&${OPTIONS}`);
  return new Map(
    names.flatMap((name): [string, FeedQuote][] => {
      const coin = fieldOf(answer, name);
      return coin === undefined ? [] : [[name, { usd: fieldOf(coin, 'usd'), at: updatedAt(coin) }]];
    }),
  );
};

function updatedAt(coin: unknown): Date | undefined {
  const seconds = fieldOf(coin, 'last_updated_at');
  return typeof seconds === 'number' && seconds > 0 && seconds < LATEST_S
    ? new Date(seconds * SECOND_MS)
    : undefined;
}
