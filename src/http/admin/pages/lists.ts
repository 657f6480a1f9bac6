/** Reads lists for pages. */
import type { StaffOperation } from '../../../spec/staff/operations.ts';
import { field } from '../../form.ts';
import type { ConsoleContext } from '../page.ts';

/** The answer of an operation that lists. */
export interface ListAnswer<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
}

/** Reads one page of a list. `next` is the path of the next one, with the same filter. */
export async function readFiltered<Item extends { readonly id: string }>(
  { query, read }: Pick<ConsoleContext, 'query' | 'read'>,
  operation: StaffOperation,
  filter: Readonly<Record<string, string>>,
  /** The page of the list. */
  path: string,
): Promise<{ readonly data: readonly Item[]; readonly next: string | null }> {
  const before = field(query, 'before');
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
  const { data, has_more: hasMore } = await read<ListAnswer<Item>>(
    operation,
    {},
    {
      ...given,
      ...(before !== '' && { before }),
    },
  );
  const last = hasMore ? data.at(-1) : undefined;
  const next = last && `${path}?${new URLSearchParams({ ...given, before: last.id })}`;
  return { data, next: next ?? null };
}
