/**
 * Rates that the operator sets (`SKERRY_FIXED_RATES`), for a service that reaches no price feed. They apply
 * at once after a restart and never become too old.
 */
import type { Clock } from '../../kernel/clock.ts';
import { invertRate } from '../../kernel/market-rate.ts';
import type { FixedPrices } from '../../kernel/settings/lists.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { type QuoteStore, type Rate, type Rates, RateUnavailable } from '../../ports/rates.ts';
import { type CoinCode, isCoinCode } from '../../spec/coins.ts';
import type { NoRateReason } from '../../spec/error-messages.ts';
import { FIXED_SOURCE, pricedAs } from '../../spec/quote-sources.ts';

export interface ConfiguredRatesOptions {
  readonly prices: FixedPrices;
  readonly clock: Clock;
  /** Has the euro rate, unless it is fixed too. */
  readonly book: Pick<QuoteStore, 'eurPerUsd'>;
}

export class ConfiguredRates implements Rates {
  readonly #options: ConfiguredRatesOptions;

  constructor(options: ConfiguredRatesOptions) {
    this.#options = options;
  }

  async usdPerCoin(coin: string): Promise<Rate> {
    const { prices, clock } = this.#options;
    const usd = isCoinCode(coin) ? prices.get(pricedAs(coin)) : undefined;
    if (usd === undefined)
      throw new RateUnavailable('unknown', 'SKERRY_FIXED_RATES has no rate for this coin');
    return { usd, quotes: [{ source: FIXED_SOURCE, usd, at: formatRfc3339(clock.now()) }] };
  }

  async findUnpriced(coins: readonly CoinCode[]): Promise<ReadonlyMap<CoinCode, NoRateReason>> {
    const unpriced = coins.filter((coin) => !this.#options.prices.has(pricedAs(coin)));
    return new Map(unpriced.map((coin) => [coin, 'unknown']));
  }

  async eurPerUsd(): Promise<string> {
    const { prices, book } = this.#options;
    const usdPerEur = prices.get('EUR');
    return usdPerEur === undefined ? await book.eurPerUsd() : invertRate(usdPerEur);
  }
}
