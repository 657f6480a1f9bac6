/** A list, page by page (SPEC "Common rules" 4). */
export interface Page<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor?: string;
}

const PAGE_SIZE_MAX = 100;

/**
 * Nothing is asked for until it is read: `for await (const server of skerry.servers.list())` walks all of them, and fetches each
 * page when the one before is done.
 */
export class Pages<T, Query extends object = object> implements AsyncIterable<T> {
  readonly #query: Query;
  readonly #fetch: (query: Query) => Promise<Page<T>>;

  constructor(query: Query, fetch: (query: Query) => Promise<Page<T>>) {
    this.#query = query;
    this.#fetch = fetch;
  }

  /** One page: the first, or the one at the query's `cursor`, of the query's `page_size`. */
  first(): Promise<Page<T>> {
    return this.#fetch(this.#query);
  }

  /** Page after page, of 100 items unless the query has a `page_size`. */
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

  /** Every item in one array, or the first `max` of them. */
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
