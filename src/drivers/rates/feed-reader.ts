/** The shape that all feeds share: a few requests, then a quote for each of the feed's symbols. */

/** The last trade. Values are as `parseExactJson` reads them; the caller decides whether they are prices. */
export interface TradeQuote {
  readonly usd: unknown;
  /** Undefined if the feed has no readable time. */
  readonly at: Date | undefined;
}

/** The best bid and ask. Unlike a last trade without a time, which may be old, a book is current. */
export interface BookQuote {
  readonly bid: unknown;
  readonly ask: unknown;
}

export type FeedQuote = TradeQuote | BookQuote;

/** Fetches the JSON at a path of the feed. Throws FeedError. */
export type FetchJson = (path: string) => Promise<unknown>;

/** Returns the feed's quotes for those symbols that it knows. */
export type FeedReader = (
  ask: FetchJson,
  names: readonly string[],
) => Promise<ReadonlyMap<string, FeedQuote>>;

/** Returns an own field of an untrusted object, or undefined. */
export function fieldOf(value: unknown, name: string): unknown {
  const isRecord = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isRecord ? (value as Record<string, unknown>)[name] : undefined;
}
