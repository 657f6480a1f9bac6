/** What the feeds have in common: a few questions, and for each name that a coin has there, what is said of it. */

/** What somebody paid, and when. Values are as `parseExact` reads them; whether they are prices is decided by whoever asked. */
export interface TradeQuote {
  readonly usd: unknown;
  /** Undefined where it tells none that can be read. */
  readonly at: Date | undefined;
}

/** What somebody would pay and somebody would take now. A last trade without its time may be of any day; a book is of now. */
export interface BookQuote {
  readonly bid: unknown;
  readonly ask: unknown;
}

export type FeedQuote = TradeQuote | BookQuote;

/** The JSON at a path of the feed. Throws FeedError. */
export type FetchJson = (path: string) => Promise<unknown>;

/** What a feed tells of those of the names that it answers for. */
export type FeedReader = (
  ask: FetchJson,
  names: readonly string[],
) => Promise<ReadonlyMap<string, FeedQuote>>;

/** The own field of an object that came from outside, or undefined. */
export function fieldOf(value: unknown, name: string): unknown {
  const isRecord = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isRecord ? (value as Record<string, unknown>)[name] : undefined;
}
