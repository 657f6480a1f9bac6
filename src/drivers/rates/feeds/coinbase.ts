/** One question for each pair: `{price: price of the last trade, time: its time, …}`, the price as text. */
import { parseRfc3339 } from '../../../kernel/time.ts';
import { type FeedQuote, type FeedReader, type FetchJson, fieldOf } from '../feed-reader.ts';

export const coinbase: FeedReader = async (fetchJson, names) => {
  const answers = await Promise.allSettled(names.map((name) => fetchQuote(fetchJson, name)));
  const quotes = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const [first] = answers;
  // All of them: it is the source, and not one of its pairs.
  if (quotes.length === 0 && first?.status === 'rejected') throw first.reason;
  return new Map(quotes);
};

async function fetchQuote(fetchJson: FetchJson, name: string): Promise<[string, FeedQuote]> {
  const answer = await fetchJson(`/products/${name}/ticker`);
  const time = fieldOf(answer, 'time');
  const at = typeof time === 'string' ? parseRfc3339(time) : undefined;
  return [name, { usd: fieldOf(answer, 'price'), at }];
}
