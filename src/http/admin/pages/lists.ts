/** Reads lists for pages. */
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { StaffOperation } from '../../../spec/staff.ts';
import { field } from '../../form.ts';
import type { ConsoleContext } from '../page.ts';

/** The answer of an operation that lists. */
export interface ListAnswer<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
}

const PAGES: Partial<Record<StaffOperation, string>> = {
  'servers.list': CONSOLE_PATHS.servers,
  'topups.list': CONSOLE_PATHS.topups,
  'audit.list': CONSOLE_PATHS.audit,
  'staff_log.list': CONSOLE_PATHS.log,
  'customers.list': CONSOLE_PATHS.customers,
};

/** Reads one page of a list. `next` is the path of the next one, with the same filter. */
export async function readFiltered<Item extends { readonly id: string }>(
  { query, read }: Pick<ConsoleContext, 'query' | 'read'>,
  operation: StaffOperation,
  filter: Readonly<Record<string, string>>,
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
  const next = last && `${PAGES[operation]}?${new URLSearchParams({ ...given, before: last.id })}`;
  return { data, next: next ?? null };
}
