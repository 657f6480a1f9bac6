/** Formats the outcome of each step. */
import type { ItemResult, ResultStatus } from '../execute/state.ts';
import { formatItem } from './format-plan.ts';

const STATUS_LABELS: Readonly<Record<ResultStatus, string>> = {
  done: 'done',
  failed: 'FAILED',
  skipped: 'SKIPPED',
  left: 'left',
};
const WIDTH = 8;

export function formatResults(results: readonly ItemResult[]): string[] {
  const lines = results.map(({ item, status, message, id }) => {
    const which = id === null ? '' : ` (${id})`;
    const suffix = message === null ? '' : `: ${message}`;
    return `${STATUS_LABELS[status].padEnd(WIDTH)}${formatItem(item)}${which}${suffix}`;
  });
  return [...lines, ...formatCharged(results)];
}

/** Shown if the charge differs from the announced one. A server that fails to install later is refunded. */
function formatCharged(results: readonly ItemResult[]): string[] {
  const orders = results.flatMap(({ item, id }) =>
    item.actions.flatMap((act) =>
      act.do === 'create_server' ? [{ usd: act.priceUsd, isMade: id !== null && id !== item.id }] : [],
    ),
  );
  const sum = (some: typeof orders) => some.reduce((total, { usd }) => total + usd, 0).toFixed(2);
  const made = orders.filter(({ isMade }) => isMade);
  return made.length === orders.length
    ? []
    : [`Charged: USD ${sum(made)} of USD ${sum(orders)}; servers that were not created cost nothing`];
}

export function toResultJson({ item, status, message, id, error, timedOut }: ItemResult): object {
  const { kind, name, changeType } = item;
  return { kind, name, action: changeType, id, status, message, timed_out: timedOut, error };
}
