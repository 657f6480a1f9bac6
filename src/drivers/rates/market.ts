/**
 * Rates of a live service, computed from the latest stored quotes, which a worker job fetches. An order
 * therefore waits for no network request, and all processes see the same rate.
 */
import type { Clock } from '../../kernel/clock.ts';
import { evaluatePrices, type Market } from '../../kernel/market-rate.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import {
  type QuoteStore,
  type Rate,
  type Rates,
  RateUnavailable,
  type StoredQuote,
} from '../../ports/rates.ts';
import { type CoinCode, isCoinCode } from '../../spec/coins.ts';
import type { NoRateReason } from '../../spec/error-messages.ts';
import { pricedAs } from '../../spec/quote-sources.ts';

export interface MarketRatesOptions {
  readonly book: QuoteStore;
  /** Business clock. In a live service, where nothing moves it, it measures how old prices are. */
  readonly clock: Clock;
  /** Stored quotes of sources that are no longer configured are ignored. */
  readonly market: Market;
}

export class MarketRates implements Rates {
  readonly #options: MarketRatesOptions;

  constructor(options: MarketRatesOptions) {
    this.#options = options;
  }

  async usdPerCoin(coin: string): Promise<Rate> {
    if (!isCoinCode(coin)) throw new RateUnavailable('unknown', 'unknown coin');
    const rate = this.#evaluate(coin, await this.#options.book.listQuotes([pricedAs(coin)]));
    if (rate instanceof RateUnavailable) throw rate;
    return rate;
  }

  async findUnpriced(coins: readonly CoinCode[]): Promise<ReadonlyMap<CoinCode, NoRateReason>> {
    const stored = await this.#options.book.listQuotes([...new Set(coins.map(pricedAs))]);
    return new Map(
      coins.flatMap((coin): [CoinCode, NoRateReason][] => {
        const rate = this.#evaluate(coin, stored);
        return rate instanceof RateUnavailable ? [[coin, rate.reason]] : [];
      }),
    );
  }

  #evaluate(coin: CoinCode, stored: readonly StoredQuote[]): Rate | RateUnavailable {
    const { clock, market } = this.#options;
    const usable = stored.filter(
      (quote) => quote.coin === pricedAs(coin) && market.sources.includes(quote.source),
    );
    const { fresh, rate } = evaluatePrices(usable, market.rules, clock.now());
    if ('fault' in rate) {
      const reason = fresh.length < market.rules.sourcesMin ? 'unknown' : 'disputed';
      return new RateUnavailable(reason, `${coin}: ${rate.fault}`);
    }
    const quotes = fresh.map(({ source, usd, quotedAt }) => ({ source, usd, at: formatRfc3339(quotedAt) }));
    return { usd: rate.usd, quotes };
  }

  async eurPerUsd(): Promise<string> {
    return await this.#options.book.eurPerUsd();
  }
}
