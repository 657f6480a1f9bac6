/** One page of a list, asked for by a page's address: `?status=running&cursor=…`. */
import { InvalidRequest } from '../../kernel/fail.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { Operation } from '../../spec/operations.ts';
import { field } from '../form.ts';
import { makeCursor } from '../v1/cursor.ts';
import { readPageRequest } from '../v1/query.ts';
import type { ListPage } from '../v1/route.ts';
import { ROUTES } from '../v1/routes.ts';
import type { Look } from './page.ts';

export interface PanelList<Item> {
  readonly items: readonly Item[];
  /** What it was filtered by; only filters that the list has, and only what they take. */
  readonly filter: Readonly<Record<string, string>>;
  /** The next page's address and, behind the first page, the first one's; null: there is none. */
  readonly next: string | null;
  readonly first: string | null;
}

interface ListOptions {
  readonly path?: string;
  readonly size?: number;
  /** Members of the address that are not the list's own, and stay on its other pages. */
  readonly kept?: Readonly<Record<string, string>>;
  /** The page's own choice, such as a month's bounds, which callers of the REST list need not have. The address says none of it. */
  readonly fixed?: { readonly filter: Readonly<Record<string, string>>; readonly sort: string };
}

/**
 * Reads a list by the rules of its REST operation. Whatever the address says that the list does not take is passed over: an
 * address is often an old one.
 */
export async function readList<Item>(
  look: Look,
  operation: Operation,
  read: (page: PageRequest) => Promise<ListPage<Item>>,
  { path = look.request.url.split('?')[0] ?? '', size = 25, kept = {}, fixed }: ListOptions = {},
): Promise<PanelList<Item>> {
  const page = requestOf(look, operation, { size, fixed });
  const { items, next } = await read(page);
  const sort = page.descending ? `-${page.sort}` : page.sort;
  const link = (more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({ ...kept, ...(fixed ? {} : page.filter), ...more }).toString();
    return query === '' ? path : `${path}?${query}`;
  };
  const cursor =
    next && makeCursor(look.service.keys, next, { ...placeOf(look, operation), filter: page.filter, sort });
  return {
    items,
    filter: page.filter,
    next: cursor === null ? null : link({ cursor }),
    first: page.after === null ? null : link({}),
  };
}

function placeOf(look: Look, operation: Operation) {
  return { list: operation, customerId: look.customer().customerId, path: JSON.stringify(look.params) };
}

function requestOf(
  look: Look,
  operation: Operation,
  { size, fixed }: { readonly size: number; readonly fixed: ListOptions['fixed'] },
): PageRequest {
  const shown = ROUTES.find(({ id }) => id === operation)?.list;
  if (!shown) throw new Error(`${operation} is no list`);
  const rules = fixed
    ? { ...shown, filters: Object.fromEntries(Object.keys(fixed.filter).map((name) => [name, {}])) }
    : shown;
  const read = (raw: Readonly<Record<string, string>>): PageRequest | null => {
    try {
      return readPageRequest({ ...raw, page_size: String(size) }, rules, {
        keys: look.service.keys,
        place: placeOf(look, operation),
      });
    } catch (error) {
      if (error instanceof InvalidRequest) return null;
      throw error;
    }
  };
  const asked: Record<string, string> = fixed ? { sort: fixed.sort } : {};
  for (const name of Object.keys(rules.filters)) {
    const value = fixed ? (fixed.filter[name] ?? '') : field(look.query, name);
    if (value !== '' && read({ [`filter[${name}]`]: value })) asked[`filter[${name}]`] = value;
  }
  const cursor = field(look.query, 'cursor');
  const page = (cursor !== '' && read({ ...asked, cursor })) || read(asked);
  if (!page) throw new Error('a list could not be asked for its first page');
  return page;
}
