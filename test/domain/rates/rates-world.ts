/** A world with market rates: stub feeds on this machine and stored quotes. */
import type { Service } from '../../../src/domain/context.ts';
import { refreshQuotes } from '../../../src/domain/rates/rates.ts';
import { quoteFeeds } from '../../../src/drivers/rates/feeds.ts';
import { MarketRates } from '../../../src/drivers/rates/market.ts';
import type { Market } from '../../../src/kernel/market-rate.ts';
import type { CoinCode } from '../../../src/spec/coins.ts';
import type { QuoteSourceName } from '../../../src/spec/quote-sources.ts';
import { createQuoteStore } from '../../../src/store/topups/quotes.ts';
import { StubFeeds } from '../../drivers/rates/stub-feeds.ts';
import { ScriptedChain } from '../../support/scripted-chain.ts';
import { TopupWorld } from '../../support/topup-world.ts';

export const NEVER_ABORTED = new AbortController().signal;
export const ALL_SOURCES: readonly QuoteSourceName[] = ['kraken', 'bitfinex', 'coinbase', 'coingecko'];
export const COINS: readonly CoinCode[] = ['BTC', 'XMR', 'ETH', 'USDT', 'USDTTRC', 'LTC'];
export const MARKET: Market = {
  sources: ALL_SOURCES,
  rules: { maxAgeS: 300, sourcesMin: 2, maxSpreadPercent: 3 },
};

export class RatesWorld {
  readonly topups: TopupWorld;
  readonly feeds: StubFeeds;

  private constructor(topups: TopupWorld, feeds: StubFeeds) {
    this.topups = topups;
    this.feeds = feeds;
  }

  static async start(): Promise<RatesWorld> {
    const topups = await TopupWorld.start({
      chains: ({ clock }) => new Map(COINS.map((coin) => [coin, new ScriptedChain(coin, clock)])),
    });
    await topups.db.run(`insert into service (mode, key_check) values ('live', 'none')`);
    const world = new RatesWorld(topups, await StubFeeds.start());
    await world.reset();
    return world;
  }

  async close(): Promise<void> {
    await Promise.all([this.topups.close(), this.feeds.close()]);
  }

  /** Removes all quotes and makes every feed work. */
  async reset(): Promise<void> {
    await this.topups.db.run('delete from quotes');
    for (const name of [...ALL_SOURCES, 'ecb'] as const) delete this.feeds.overrides[name];
    this.feeds.set('kraken', { XXBTZUSD: '60010.10000' });
    this.feeds.set('coingecko', { bitcoin: '60005.123456789012' });
    this.feeds.now = () => this.topups.clock.now();
  }

  rates(market: Partial<Market> = {}): MarketRates {
    const { db, clock } = this.topups;
    return new MarketRates({ book: createQuoteStore(db), clock, market: { ...MARKET, ...market } });
  }

  /** Returns the service with these rates. */
  service(): Service {
    return { ...this.topups.service, rates: this.rates() };
  }

  /** Polls feeds once and returns their problems. */
  async refresh(...names: readonly QuoteSourceName[]): Promise<(string | null)[]> {
    const sources = this.feeds.sources(...(names.length > 0 ? names : ALL_SOURCES));
    const asked = quoteFeeds(sources, { timeoutMs: 2_000, maxSpreadPercent: 3 });
    return await Promise.all(asked.map((feed) => refreshQuotes(this.topups.service, feed, NEVER_ABORTED)));
  }
}
