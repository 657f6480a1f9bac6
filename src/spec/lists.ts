/** How a list may be asked (SPEC "Common rules" 4, DECISIONS "Lists"): which filters, which sorts. */

export interface ListRules {
  readonly filters: Readonly<Record<string, FilterRule>>;
  /** Fields it can be sorted by; `-` before one turns it round. */
  readonly sorts: readonly string[];
  /** E.g. `-created_at`. */
  readonly defaultSort: string;
  /** Whether a filter may also be written without `filter[…]`, as `family=debian`. */
  readonly plainFilters?: true;
}

export interface FilterRule {
  /** A word outside this closed list is 400. */
  readonly allowed?: readonly string[];
  /** `time`: RFC 3339, handed on as given; text otherwise, 1 to 255 characters. */
  readonly type?: 'time';
  readonly about?: string;
}

/** Which page is asked for, all words checked. */
export interface PageRequest {
  /** By the filter's name; absent ones were not given. */
  readonly filter: Readonly<Record<string, string>>;
  /** One of `sorts`. */
  readonly sort: string;
  readonly descending: boolean;
  /** The last item of the page before; null for the first page. */
  readonly after: PagePosition | null;
  /** 1 to 100. */
  readonly size: number;
}

/** Where an item stands in its list: the sort field's value as the database writes it, and the stored id. */
export interface PagePosition {
  readonly value: string;
  readonly id: string;
}

/**
 * Of the catalogue. A plan has no name and neither has a time of creation: asked for, these words mean the order of the
 * ids, so that a caller who sorts every list alike is served.
 */
export const BY_ID = { sorts: ['id', 'created_at', 'name'], defaultSort: 'id' } as const;
export const BY_AGE = { sorts: ['created_at'], defaultSort: '-created_at' } as const;
export const BY_AGE_OR_NAME = { sorts: ['created_at', 'name'], defaultSort: '-created_at' } as const;
