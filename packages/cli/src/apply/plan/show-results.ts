/** What became of each step. */
import type { Result, Status } from '../act/state.ts';
import { itemText } from './show.ts';

const WORDS: Readonly<Record<Status, string>> = {
  done: 'done',
  failed: 'FAILED',
  skipped: 'SKIPPED',
  left: 'left',
};
const WIDTH = 8;

export function resultLines(results: readonly Result[]): string[] {
  const lines = results.map(({ item, status, message, id }) => {
    const which = id === null ? '' : ` (${id})`;
    return `${WORDS[status].padEnd(WIDTH)}${itemText(item)}${which}${message === null ? '' : `: ${message}`}`;
  });
  return [...lines, ...chargedLines(results)];
}

/** Where it is not what was announced. A server that the service gives up later is paid back. */
function chargedLines(results: readonly Result[]): string[] {
  const orders = results.flatMap(({ item, id }) =>
    item.acts.flatMap((act) =>
      act.do === 'create_server' ? [{ usd: act.priceUsd, isMade: id !== null && id !== item.id }] : [],
    ),
  );
  const sum = (some: typeof orders) => some.reduce((total, { usd }) => total + usd, 0).toFixed(2);
  const made = orders.filter(({ isMade }) => isMade);
  return made.length === orders.length
    ? []
    : [`Charged: USD ${sum(made)} of USD ${sum(orders)}, for what was not made costs nothing`];
}

export function resultData({ item, status, message, id, error, timedOut }: Result): object {
  const { kind, name, sign } = item;
  return { kind, name, action: sign, id, status, message, timed_out: timedOut, error };
}
