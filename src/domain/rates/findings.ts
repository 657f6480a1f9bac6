/** Reports on the exchange rates of a live service for the operator. */
import { evaluatePrices, isFresh, type Market } from '../../kernel/market-rate.ts';
import type { FixedPrices } from '../../kernel/settings/lists.ts';
import { DAY_MS, formatSessionTime, SECOND_MS } from '../../kernel/time.ts';
import type { CoinCode } from '../../spec/coins.ts';
import {
  isQuoteSource,
  type PricedAsset,
  type PricedCoin,
  pricedAs,
  QUOTE_SOURCES,
  type QuoteSource,
} from '../../spec/quote-sources.ts';
import { listQuotes, type QuoteRow } from '../../store/topups/quotes.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../health/status.ts';

/** The central bank pauses on weekends and holidays, at most four days in a row. */
const EURO_STALE_MS = 7 * DAY_MS;

/**
 * Returns one finding per required price and one for the euro. `fail`: no rate, so the coin is not
 * accepted. `note`: there is a rate, but a source is missing.
 */
export async function rateFindings(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  {
    market,
    fixedPrices,
    coins,
  }: {
    readonly market: Market;
    readonly fixedPrices: FixedPrices;
    readonly coins: readonly CoinCode[];
  },
): Promise<Finding[]> {
  const priced = [...new Set(coins.map(pricedAs))];
  const quotes = await listQuotes(db, [...priced, 'EUR']);
  const now = clock.now();
  const findings = priced.map((coin) =>
    fixedPrices.size > 0
      ? fixedFinding(coin, fixedPrices.get(coin))
      : coinFinding(coin, { quotes, market, now }),
  );
  const euro = fixedPrices.get('EUR');
  return [...findings, euro === undefined ? euroFinding(quotes, now) : fixedFinding('EUR', euro)];
}

/** The settings are refused without a price of an accepted coin. A fixed price does not follow the market. */
function fixedFinding(asset: PricedAsset, usd: string | undefined): Finding {
  const subject = 'rates';
  if (usd === undefined)
    return { level: 'fail', subject, message: `${asset}: no rate: SKERRY_FIXED_RATES has none` };
  const message = `${asset}: ${usd} fixed by SKERRY_FIXED_RATES; it does not follow the market`;
  return { level: 'note', subject, message };
}

interface RateInputs {
  readonly quotes: readonly QuoteRow[];
  readonly market: Market;
  readonly now: Date;
}

function coinFinding(coin: PricedCoin, { quotes, market, now }: RateInputs): Finding {
  const subject = 'rates';
  const { sources, rules } = market;
  const listing = sources.filter((source) => isListed(source, coin));
  if (listing.length < rules.sourcesMin) {
    const listed = listing.length === 0 ? 'none' : listing.join(', ');
    const message =
      `${coin}: no rate possible: SKERRY_QUOTE_SOURCES_MIN requires ${rules.sourcesMin} ` +
      `sources, and only these list the coin: ${listed}`;
    return { level: 'fail', subject, message };
  }
  const prices = quotes.filter((row) => row.coin === coin && listing.includes(row.source));
  const { fresh, spreadPercent, rate } = evaluatePrices(prices, rules, now);
  const silent = listing.filter((source) => !fresh.some((price) => price.source === source));
  const lastQuotes = silent.map((source) => describeLastQuote(source, prices));
  if ('fault' in rate) {
    return { level: 'fail', subject, message: [`${coin}: no rate: ${rate.fault}`, ...lastQuotes].join('; ') };
  }
  const newestS = Math.min(...fresh.map(({ quotedAt }) => ageS(quotedAt, now)));
  const summary =
    `${fresh.length} of ${listing.length} sources, spread ${spreadPercent} %, newest ` + `${newestS} s old`;
  const message = [`${coin}: ${rate.usd} from ${summary}`, ...lastQuotes].join('; ');
  return { level: silent.length > 0 ? 'note' : 'ok', subject, message };
}

function describeLastQuote(source: string, prices: readonly QuoteRow[]): string {
  const last = prices.find((price) => price.source === source);
  return last
    ? `${source} last gave a price at ${formatSessionTime(last.quotedAt)} UTC`
    : `${source} has never given a price`;
}

function isListed(source: string, coin: PricedCoin): boolean {
  const known: QuoteSource | undefined = isQuoteSource(source) ? QUOTE_SOURCES[source] : undefined;
  return known?.symbols[coin] !== undefined;
}

function euroFinding(quotes: readonly QuoteRow[], now: Date): Finding {
  const subject = 'rates';
  const last = quotes.find(({ coin }) => coin === 'EUR');
  if (!last)
    return {
      level: 'warn',
      subject,
      message: 'EUR: no rate yet: the panel shows euros at a plausible rate and never charges them',
    };
  const message = `EUR: ${last.usd} US dollars as of ${last.quotedAt.toISOString().slice(0, 10)}`;
  if (isFresh(last.quotedAt, { maxAgeS: EURO_STALE_MS / SECOND_MS }, now))
    return { level: 'ok', subject, message };
  return {
    level: 'warn',
    subject,
    message: `${message}: SKERRY_EURO_URL returns nothing newer; the rate is displayed, never charged`,
  };
}

function ageS(quotedAt: Date, now: Date): number {
  return Math.max(0, Math.round((now.getTime() - quotedAt.getTime()) / SECOND_MS));
}
