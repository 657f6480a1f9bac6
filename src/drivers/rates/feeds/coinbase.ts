/** One question for each pair: `{price: price of the last trade, time: its time, …}`, the price as text. */
import { parseRfc3339 } from '../../../kernel/time.ts';
import { type Ask, fieldOf, type Shape, type Told } from '../shape.ts';

export const coinbase: Shape = async (ask, names) => {
  const answers = await Promise.allSettled(names.map((name) => askOne(ask, name)));
  const told = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const [first] = answers;
  // All of them: it is the source, and not one of its pairs.
  if (told.length === 0 && first?.status === 'rejected') throw first.reason;
  return new Map(told);
};

async function askOne(ask: Ask, name: string): Promise<[string, Told]> {
  const answer = await ask(`/products/${name}/ticker`);
  const time = fieldOf(answer, 'time');
  const at = typeof time === 'string' ? parseRfc3339(time) : undefined;
  return [name, { usd: fieldOf(answer, 'price'), at }];
}
