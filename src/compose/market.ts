/** Price sources of a live service, from the settings. */
import type { Config } from '../config.ts';
import { EcbEuro } from '../drivers/rates/ecb.ts';
import { quoteFeeds } from '../drivers/rates/feeds.ts';
import type { Market } from '../kernel/market-rate.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { parseQuoteSources } from '../kernel/quote-sources.ts';
import type { EuroFeed, QuoteFeed } from '../ports/rates.ts';

/**
 * Settings of MarketRates and of rate reports. Throws an OperatorError if there are fewer sources than a rate
 * needs.
 */
export function configuredMarket(config: Config): Market {
  const sources = parseQuoteSources(config.SKERRY_QUOTE_SOURCES).map(({ name }) => name);
  const sourcesMin = config.SKERRY_QUOTE_SOURCES_MIN;
  if (sources.length < sourcesMin) {
    throw new OperatorError(
      `SKERRY_QUOTE_SOURCES_MIN: a rate needs ${sourcesMin} prices, but SKERRY_QUOTE_SOURCES lists ` +
        `${sources.length}; add sources, or lower the minimum`,
    );
  }
  const maxAgeS = config.SKERRY_QUOTE_MAX_AGE_S;
  const maxSpreadPercent = config.SKERRY_QUOTE_MAX_SPREAD_PERCENT;
  return { sources, rules: { maxAgeS, sourcesMin, maxSpreadPercent } };
}

/** Feeds for the quotes job. */
export function configuredFeeds(config: Config): {
  readonly feeds: readonly QuoteFeed[];
  readonly euro: EuroFeed;
} {
  const feeds = quoteFeeds(parseQuoteSources(config.SKERRY_QUOTE_SOURCES), {
    maxSpreadPercent: config.SKERRY_QUOTE_MAX_SPREAD_PERCENT,
  });
  return { feeds, euro: new EcbEuro({ url: config.SKERRY_EURO_URL }) };
}
