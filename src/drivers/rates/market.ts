/**
 * Rates of a live service, computed from the latest stored quotes, which a worker job fetches. An order
 * therefore waits for no network request, and all processes see the same rate.
 */
import type { Clock } from '../../kernel/clock.ts';
import { evaluatePrices, type Market } from '../../kernel/market-rate.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { QuoteStore, Rate, Rates } from '../../ports/rates.ts';
import { isCoinCode } from '../../spec/coins.ts';
import { pricedAs } from '../../spec/quote-sources.ts';

export interface MarketRatesOptions {
  readonly book: QuoteStore;
  /** Business clock. In a live service, where nothing moves it, it measures how old prices are. */
  readonly clock: Clock;
  /** Stored quotes of sources that are no longer configured are ignored. */
  readonly market: Market;
}

/** No reliable rate is available. The message is for the operator. */
export class RateUnavailable extends Error {
  override readonly name = 'RateUnavailable';
}

export class MarketRates implements Rates {
  readonly #options: MarketRatesOptions;

  constructor(options: MarketRatesOptions) {
    this.#options = options;
  }

  async usdPerCoin(coin: string): Promise<Rate> {
    if (!isCoinCode(coin)) throw new RateUnavailable('unknown coin');
    const { book, clock, market } = this.#options;
    const stored = await book.listQuotes(pricedAs(coin));
    const configured = stored.filter(({ source }) => market.sources.includes(source));
    const { fresh, rate } = evaluatePrices(configured, market.rules, clock.now());
    if ('fault' in rate) throw new RateUnavailable(`${coin}: ${rate.fault}`);
    const quotes = fresh.map(({ source, usd, quotedAt }) => ({ source, usd, at: formatRfc3339(quotedAt) }));
    return { usd: rate.usd, quotes };
  }

  async eurPerUsd(): Promise<string> {
    return await this.#options.book.eurPerUsd();
  }
}
