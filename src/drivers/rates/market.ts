/**
 * Rates of a live service: made of what the sources said last, which a duty of the workers asks them for. So an order waits for
 * nobody, and all processes have the same rate.
 */
import type { Clock } from '../../kernel/clock.ts';
import { evaluatePrices, type Market } from '../../kernel/market-rate.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { QuoteStore, Rate, Rates } from '../../ports/rates.ts';
import { isCoinCode } from '../../spec/coins.ts';
import { pricedAs } from '../../spec/quote-sources.ts';

export interface MarketRatesOptions {
  readonly book: QuoteStore;
  /** The business clock. Only a sandbox moves it: in a live service it is real time, and measures how old prices are. */
  readonly clock: Clock;
  /** What was kept of sources that are asked no more does not count. */
  readonly market: Market;
}

/** There is no rate that can be relied on. The message is for the operator. */
export class RateUnavailable extends Error {
  override readonly name = 'NoRate';
}

export class MarketRates implements Rates {
  readonly #options: MarketRatesOptions;

  constructor(options: MarketRatesOptions) {
    this.#options = options;
  }

  async usdPerCoin(coin: string): Promise<Rate> {
    if (!isCoinCode(coin)) throw new RateUnavailable('there is no such coin');
    const { book, clock, market } = this.#options;
    const kept = await book.listQuotes(pricedAs(coin));
    const asked = kept.filter(({ source }) => market.sources.includes(source));
    const { fresh, rate } = evaluatePrices(asked, market.rules, clock.now());
    if ('fault' in rate) throw new RateUnavailable(`${coin}: ${rate.fault}`);
    const quotes = fresh.map(({ source, usd, quotedAt }) => ({ source, usd, at: formatRfc3339(quotedAt) }));
    return { usd: rate.usd, quotes };
  }

  async eurPerUsd(): Promise<string> {
    return await this.#options.book.eurPerUsd();
  }
}
