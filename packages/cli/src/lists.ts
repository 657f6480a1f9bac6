/** Options and output that all list commands share. */
import type { Pages } from '@skerry/sdk';
import type { Context } from './command.ts';
import { integer, text } from './options.ts';
import type { Column } from './output/columns.ts';

const DEFAULT_LIMIT = 1_000;
const LIMIT_MAX = 100_000;

export const LIST_OPTIONS = {
  sort: text('field', 'Sort by created_at or, if supported, name; -created_at puts the newest first'),
  limit: integer('number', `Maximum number of results (default: ${DEFAULT_LIMIT})`, {
    min: 1,
    max: LIMIT_MAX,
  }),
};

/** Fetches and prints a list, and warns if there are more results. */
export async function showList<T>(
  { output, terminal }: Pick<Context, 'output' | 'terminal'>,
  pages: Pages<T>,
  limit: number | undefined,
  columns: readonly Column<T>[],
  /** Sorts the fetched items on this side, instead of by the service's order. */
  order?: (one: T, other: T) => number,
): Promise<void> {
  const max = limit ?? DEFAULT_LIMIT;
  const items = await pages.all(max + 1);
  const shown = items.slice(0, max);
  output.list(order ? shown.sort(order) : shown, columns);
  if (items.length > max) terminal.warn(`skerry: showing the first ${max} results; use --limit to show more`);
}

/** Removes undefined values, so that a query or a body contains only the fields that were given. */
export function omitUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
