/** One page of a list (SPEC "Common rules" 4). */
export interface Page<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor?: string;
}

const PAGE_SIZE_MAX = 100;

/**
 * A list that is fetched while it is read: `for await (const server of skerry.servers.list())` iterates over
 * all items and fetches a page when the previous one is used up.
 */
export class Pages<T, Query extends object = object> implements AsyncIterable<T> {
  readonly #query: Query;
  readonly #fetch: (query: Query) => Promise<Page<T>>;

  constructor(query: Query, fetch: (query: Query) => Promise<Page<T>>) {
    this.#query = query;
    this.#fetch = fetch;
  }

  /** Fetches one page: the first one, or the one at `cursor`, with `page_size` items. */
  first(): Promise<Page<T>> {
    return this.#fetch(this.#query);
  }

  /** Fetches page after page, with 100 items unless the query has a `page_size`. */
  async *pages(): AsyncGenerator<Page<T>, void> {
    let query: Query = { page_size: PAGE_SIZE_MAX, ...this.#query };
    for (;;) {
      const page = await this.#fetch(query);
      yield page;
      if (!page.has_more || page.next_cursor === undefined) return;
      query = { ...query, cursor: page.next_cursor };
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Returns all items, or the first `max` of them. */
  async all(max = Number.POSITIVE_INFINITY): Promise<T[]> {
    const items: T[] = [];
    if (max <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }
}
