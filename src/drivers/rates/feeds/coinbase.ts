/** One request per pair: `{price: last price, time: its time, …}`, the price as a string. */
import { parseRfc3339 } from '../../../kernel/time.ts';
import { type FeedQuote, type FeedReader, type FetchJson, fieldOf } from '../feed-reader.ts';

export const coinbase: FeedReader = async (fetchJson, names) => {
  const answers = await Promise.allSettled(names.map((name) => fetchQuote(fetchJson, name)));
  const quotes = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const [first] = answers;
  // If all of them failed, the source failed, not a single pair.
  if (quotes.length === 0 && first?.status === 'rejected') throw first.reason;
  return new Map(quotes);
};

async function fetchQuote(fetchJson: FetchJson, name: string): Promise<[string, FeedQuote]> {
  const answer = await fetchJson(`/products/${name}/ticker`);
  const time = fieldOf(answer, 'time');
  const at = typeof time === 'string' ? parseRfc3339(time) : undefined;
  return [name, { usd: fieldOf(answer, 'price'), at }];
}
