/** Filters and sort orders of a list (SPEC "Common rules" 4, DECISIONS "Lists"). */

export interface ListRules {
  readonly filters: Readonly<Record<string, FilterRule>>;
  /** Sort fields; a leading `-` reverses the order. */
  readonly sorts: readonly string[];
  /** E.g. `-created_at`. */
  readonly defaultSort: string;
  /** Whether a filter may also be written without `filter[…]`, as `family=debian`. */
  readonly plainFilters?: true;
}

export interface FilterRule {
  /** A value outside this closed list gets 400. */
  readonly allowed?: readonly string[];
  /**
   * `time`: RFC 3339, passed on unchanged. `labels`: `key:value`, written without brackets, and repeatable.
   * Otherwise text of 1 to 255 characters.
   */
  readonly type?: 'time' | 'labels';
  readonly about?: string;
}

/** The filter of a list whose items have labels. */
export const BY_LABEL = {
  label: { type: 'labels', about: 'A label as `key:value`. Repeat it for labels that must all match.' },
} as const satisfies ListRules['filters'];

/** A validated request for a page. */
export interface PageRequest {
  /** By the name of the filter. A filter that was not given is absent. Labels are one text: joinLabels. */
  readonly filter: Readonly<Record<string, string>>;
  /** One of `sorts`. */
  readonly sort: string;
  readonly descending: boolean;
  /** The last item of the previous page; null for the first page. */
  readonly after: PagePosition | null;
  /** 1 to 100. */
  readonly size: number;
}

export interface Page<Item> {
  readonly items: Item[];
  /** The position of the last item; null: no more items follow. */
  readonly next: PagePosition | null;
}

/** The position of an item in its list: the sort field as the database formats it, and the stored id. */
export interface PagePosition {
  readonly value: string;
  readonly id: string;
}

/**
 * Sort orders of the catalog. Its resources have no creation time, and plans have no name: these words sort
 * by id, so that a client can sort every list the same way.
 */
export const BY_ID = { sorts: ['id', 'created_at', 'name'], defaultSort: 'id' } as const;
export const BY_AGE = { sorts: ['created_at'], defaultSort: '-created_at' } as const;
export const BY_AGE_OR_NAME = { sorts: ['created_at', 'name'], defaultSort: '-created_at' } as const;
