/** What every list takes: how to sort it, and how much of it to fetch. */
import type { Pages } from '@skerry/sdk';
import type { Context } from './command.ts';
import { integer, text } from './options.ts';
import type { Column } from './output/columns.ts';

const DEFAULT_LIMIT = 1_000;
const LIMIT_MAX = 100_000;

export const LIST_OPTIONS = {
  sort: text('field', 'Sorted by created_at, or by name what has names; -created_at is the newest first.'),
  limit: integer('number', `How many to show at most; ${DEFAULT_LIMIT} when left out.`, {
    min: 1,
    max: LIMIT_MAX,
  }),
};

/** Fetches and shows it, and says when there was more. */
export async function showList<T>(
  { output, terminal }: Pick<Context, 'output' | 'terminal'>,
  pages: Pages<T>,
  limit: number | undefined,
  columns: readonly Column<T>[],
  /** Another order than the service's, of what was fetched. */
  order?: (one: T, other: T) => number,
): Promise<void> {
  const max = limit ?? DEFAULT_LIMIT;
  const items = await pages.all(max + 1);
  const shown = items.slice(0, max);
  output.list(order ? shown.sort(order) : shown, columns);
  if (items.length > max) terminal.warn(`skerry: there are more than ${max}; --limit shows more of them`);
}

/** Without what was left out: a query or a body names only what is meant. */
export function omitUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
