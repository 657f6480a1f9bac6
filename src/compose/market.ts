/** Where a live service has its prices from, as the settings say. */
import type { Config } from '../config.ts';
import { EcbEuro } from '../drivers/rates/ecb.ts';
import { quoteFeeds } from '../drivers/rates/feeds.ts';
import type { Market } from '../kernel/market-rate.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { parseQuoteSources } from '../kernel/quote-sources.ts';
import type { EuroFeed, QuoteFeed } from '../ports/rates.ts';

/** For MarketRates, and for whoever tells how rates stand. Throws a Refusal where there can never be one. */
export function configuredMarket(config: Config): Market {
  const sources = parseQuoteSources(config.SKERRY_QUOTE_SOURCES).map(({ name }) => name);
  const sourcesMin = config.SKERRY_QUOTE_SOURCES_MIN;
  if (sources.length < sourcesMin) {
    throw new OperatorError(
      `SKERRY_QUOTE_SOURCES_MIN: a rate needs ${sourcesMin} prices, and SKERRY_QUOTE_SOURCES names ${sources.length}`,
    );
  }
  const maxAgeS = config.SKERRY_QUOTE_MAX_AGE_S;
  const maxSpreadPercent = config.SKERRY_QUOTE_MAX_SPREAD_PERCENT;
  return { sources, rules: { maxAgeS, sourcesMin, maxSpreadPercent } };
}

/** For the duty that asks them. */
export function configuredFeeds(config: Config): {
  readonly feeds: readonly QuoteFeed[];
  readonly euro: EuroFeed;
} {
  const feeds = quoteFeeds(parseQuoteSources(config.SKERRY_QUOTE_SOURCES), {
    maxSpreadPercent: config.SKERRY_QUOTE_MAX_SPREAD_PERCENT,
  });
  return { feeds, euro: new EcbEuro({ url: config.SKERRY_EURO_URL }) };
}
