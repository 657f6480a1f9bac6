/** Reads one page of a list from a page's query: `?status=running&cursor=…`. */
import type { CustomerActor } from '../../domain/context.ts';
import { InvalidRequest } from '../../kernel/fail.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { Operation } from '../../spec/operations.ts';
import { field } from '../form.ts';
import { makeCursor } from '../v1/cursor.ts';
import { readPageRequest } from '../v1/query.ts';
import type { ListPage } from '../v1/route.ts';
import { ROUTES } from '../v1/routes.ts';
import type { PageContext } from './page-types.ts';

export interface PanelList<Item> {
  readonly items: readonly Item[];
  /** The applied filters. Unknown filters and invalid values are left out. */
  readonly filter: Readonly<Record<string, string>>;
  /** The sort order, as in the REST operation: `-created_at`. */
  readonly sort: string;
  /** Paths of the next page and, after the first page, of the first one. Null if there is none. */
  readonly next: string | null;
  readonly first: string | null;
}

interface ListOptions {
  readonly path?: string;
  readonly size?: number;
  /** The page's query may choose one of these sort orders. */
  readonly sorts?: readonly string[];
  /** Query parameters of the page itself, which links to its other pages keep. */
  readonly preservedQuery?: Readonly<Record<string, string>>;
  /** A filter and sort order of the page itself, such as the bounds of a month. Not part of the URL. */
  readonly fixed?: { readonly filter: Readonly<Record<string, string>>; readonly sort: string };
}

/**
 * Reads a list by the rules of its REST operation. Ignores query parameters that the list does not accept,
 * because links are often old.
 */
export async function readList<Item>(
  context: PageContext,
  operation: Operation,
  read: (page: PageRequest) => Promise<ListPage<Item>>,
  options: ListOptions = {},
): Promise<PanelList<Item>> {
  const { path = context.request.url.split('?')[0] ?? '', size = 25, preservedQuery = {}, fixed } = options;
  const source = { ...context, owner: context.customer() };
  const page = buildPageRequest(source, operation, { size, fixed, sorts: options.sorts ?? [] });
  const { items, next } = await read(page);
  const sort = page.descending ? `-${page.sort}` : page.sort;
  const link = (changes: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({
      ...preservedQuery,
      ...(fixed ? {} : page.filter),
      ...(options.sorts && field(context.query, 'sort') === sort ? { sort } : {}),
      ...changes,
    }).toString();
    return query === '' ? path : `${path}?${query}`;
  };
  const cursor =
    next &&
    makeCursor(context.service.keys, next, { ...cursorScope(source, operation), filter: page.filter, sort });
  return {
    items,
    filter: page.filter,
    sort,
    next: cursor === null ? null : link({ cursor }),
    first: page.after === null ? null : link({}),
  };
}

/** The request that a list is read from. */
type ListSource = Pick<PageContext, 'service' | 'query' | 'params'> & { readonly owner: CustomerActor };

function cursorScope({ owner, params }: ListSource, operation: Operation) {
  return { list: operation, customerId: owner.customerId, path: JSON.stringify(params) };
}

export function buildPageRequest(
  context: ListSource,
  operation: Operation,
  options: {
    readonly size: number;
    readonly fixed?: ListOptions['fixed'];
    readonly sorts: readonly string[];
  },
): PageRequest {
  const { size, fixed, sorts } = options;
  const found = ROUTES.find(({ id }) => id === operation)?.list;
  if (!found) throw new Error(`${operation} is not a list`);
  const listRules = sorts.length > 0 ? { ...found, sorts } : found;
  const rules = fixed
    ? { ...listRules, filters: Object.fromEntries(Object.keys(fixed.filter).map((name) => [name, {}])) }
    : listRules;
  const read = (raw: Readonly<Record<string, string>>): PageRequest | null => {
    try {
      return readPageRequest({ ...raw, page_size: String(size) }, rules, {
        keys: context.service.keys,
        place: cursorScope(context, operation),
      });
    } catch (error) {
      if (error instanceof InvalidRequest) return null;
      throw error;
    }
  };
  const rawQuery: Record<string, string> = fixed ? { sort: fixed.sort } : {};
  const sort = field(context.query, 'sort');
  if (sorts.length > 0 && sort !== '' && read({ sort })) rawQuery.sort = sort;
  for (const name of Object.keys(rules.filters)) {
    const isLabel = listRules.filters[name]?.type === 'labels';
    const typed = fixed ? (fixed.filter[name] ?? '') : field(context.query, name);
    // The panel writes a label as its forms do, `env=prod`.
    const value = isLabel ? typed.replace(/^([^:=]*)=/, '$1:') : typed;
    const key = isLabel ? name : `filter[${name}]`;
    if (value !== '' && read({ [key]: value })) rawQuery[key] = value;
  }
  const cursor = field(context.query, 'cursor');
  const page = (cursor !== '' && read({ ...rawQuery, cursor })) || read(rawQuery);
  if (!page) throw new Error('reading the first page of a list failed');
  return page;
}
