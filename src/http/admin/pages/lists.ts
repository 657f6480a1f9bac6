/** The answer of an operation that lists. */
export interface ListAnswer<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
}
