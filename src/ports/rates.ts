/** Prices of coins and of the dollar. Decimal strings, so that no digit is lost. */
import type { PricedCoin } from '../spec/quote-sources.ts';

/** One price that a rate was made of: kept with whatever was priced by it. */
export interface Quote {
  readonly source: string;
  /** US dollars for one whole coin. */
  readonly usd: string;
  /** When the source gave it, RFC 3339. */
  readonly at: string;
}

export interface Rate {
  /** US dollars for one whole coin, e.g. `61234.5`. */
  readonly usd: string;
  /** At least one. */
  readonly quotes: readonly Quote[];
}

export interface Rates {
  /** Of now. Throws while there is none that can be relied on. */
  usdPerCoin(coin: string): Promise<Rate>;
  /** Euros for one US dollar, e.g. `0.92`; the last known one when its source is silent. Shown, never charged. */
  eurPerUsd(): Promise<string>;
}

/** A source's newest price of a coin, as it is kept. */
export interface StoredQuote {
  readonly source: string;
  readonly usd: string;
  readonly quotedAt: Date;
}

/** What the sources said last: written by whoever asks them, read by whoever needs a rate. */
export interface QuoteStore {
  listQuotes(coin: PricedCoin): Promise<readonly StoredQuote[]>;
  eurPerUsd(): Promise<string>;
}

export interface FeedPrice {
  readonly coin: PricedCoin;
  readonly usd: string;
  /** On the source's clock; null: it does not tell. */
  readonly at: Date | null;
}

/** A public source of prices. */
export interface QuoteFeed {
  readonly source: string;
  /** How often it may be asked. */
  readonly intervalS: number;
  /**
   * Its prices of those of the coins that it lists, within a bounded time. `missing`: listed, and nothing that is a price came.
   * Throws FeedError.
   */
  read(
    coins: readonly PricedCoin[],
    signal: AbortSignal,
  ): Promise<{ readonly prices: readonly FeedPrice[]; readonly missing: readonly PricedCoin[] }>;
}

/** A public source of the euro. */
export interface EuroFeed {
  readonly source: string;
  /** US dollars for one euro, and the day that it is of. Throws FeedError. */
  read(signal: AbortSignal): Promise<{ readonly usd: string; readonly at: Date }>;
}

/** A feed gave nothing. The message is a few words of our own, the same for the same fault, without the feed's address. */
export class FeedError extends Error {
  override readonly name = 'FeedError';
}
