/** Prices of coins and of the dollar. Decimal strings, so that no digits are lost. */
import type { CoinCode } from '../spec/coins.ts';
import type { NoRateReason } from '../spec/error-messages.ts';
import type { PricedCoin } from '../spec/quote-sources.ts';

/** One price that a rate is based on, stored with everything that used the rate. */
export interface Quote {
  readonly source: string;
  /** US dollars for one whole coin. */
  readonly usd: string;
  /** When the source quoted it, RFC 3339. */
  readonly at: string;
}

export interface Rate {
  /** US dollars for one whole coin, e.g. `61234.5`. */
  readonly usd: string;
  /** At least one. */
  readonly quotes: readonly Quote[];
}

export interface Rates {
  /** Returns the current rate. Throws RateUnavailable if no reliable rate is available. */
  usdPerCoin(coin: string): Promise<Rate>;
  /** Returns those of the coins that have no rate now. */
  findUnpriced(coins: readonly CoinCode[]): Promise<ReadonlyMap<CoinCode, NoRateReason>>;
  /**
   * Euros per US dollar, e.g. `0.92`; the last known value if the source is down. Displayed, never charged.
   */
  eurPerUsd(): Promise<string>;
}

/** No reliable rate is available. The message is for the operator, the reason for the customer. */
export class RateUnavailable extends Error {
  override readonly name = 'RateUnavailable';
  readonly reason: NoRateReason;

  constructor(reason: NoRateReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A source's latest price of a coin, as stored. */
export interface StoredQuote {
  readonly coin: string;
  readonly source: string;
  readonly usd: string;
  readonly quotedAt: Date;
}

/** The latest quotes of all sources: a worker writes them, and every process reads them. */
export interface QuoteStore {
  listQuotes(coins: readonly PricedCoin[]): Promise<readonly StoredQuote[]>;
  eurPerUsd(): Promise<string>;
}

export interface FeedPrice {
  readonly coin: PricedCoin;
  readonly usd: string;
  /** On the source's clock; null if it doesn't say. */
  readonly at: Date | null;
}

/** A public price source. */
export interface QuoteFeed {
  readonly source: string;
  /** Minimum interval between requests. */
  readonly intervalS: number;
  /**
   * Returns prices of the coins that the source lists, within a bounded time. `missing`: listed, but without
   * a valid price. Throws FeedError.
   */
  read(
    coins: readonly PricedCoin[],
    signal: AbortSignal,
  ): Promise<{ readonly prices: readonly FeedPrice[]; readonly missing: readonly PricedCoin[] }>;
}

/** A public source of the euro's exchange rate. */
export interface EuroFeed {
  readonly source: string;
  /** Returns US dollars per euro and the day of the rate. Throws FeedError. */
  read(signal: AbortSignal): Promise<{ readonly usd: string; readonly at: Date }>;
}

/** A feed failed. The message is short, the same for the same fault, and doesn't contain the feed's URL. */
export class FeedError extends Error {
  override readonly name = 'FeedError';
}
