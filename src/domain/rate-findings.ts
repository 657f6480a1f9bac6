/** How the rates of a live service stand, for the operator. */
import { evaluatePrices, isFresh, type Market } from '../kernel/market-rate.ts';
import { DAY_MS, formatSessionTime, SECOND_MS } from '../kernel/time.ts';
import type { CoinCode } from '../spec/coins.ts';
import {
  isQuoteSource,
  type PricedCoin,
  pricedAs,
  QUOTE_SOURCES,
  type QuoteSource,
} from '../spec/quote-sources.ts';
import { listQuotes, type QuoteRow } from '../store/quotes.ts';
import type { Service } from './context.ts';
import type { Finding } from './status.ts';

/** The central bank rests on weekends and holidays, four days in a row at most. */
const EURO_STALE_MS = 7 * DAY_MS;

/**
 * One finding for each price that the coins need, and one for the euro. `fail`: there is no rate, so the coin is not taken; `note`:
 * there is one, without one of the sources.
 */
export async function rateFindings(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  { market, coins }: { readonly market: Market; readonly coins: readonly CoinCode[] },
): Promise<Finding[]> {
  const priced = [...new Set(coins.map(pricedAs))];
  const kept = await listQuotes(db, [...priced, 'EUR']);
  const now = clock.now();
  const notes = priced.map((coin) => coinFinding(coin, { kept, market, now }));
  return [...notes, euroFinding(kept, now)];
}

interface RateInputs {
  readonly kept: readonly QuoteRow[];
  readonly market: Market;
  readonly now: Date;
}

function coinFinding(coin: PricedCoin, { kept, market, now }: RateInputs): Finding {
  const subject = 'rates';
  const { sources, rules } = market;
  const listing = sources.filter((source) => isListed(source, coin));
  if (listing.length < rules.sourcesMin) {
    const listed = listing.length === 0 ? 'none' : listing.join(', ');
    const message = `${coin}: no rate, ever: ${rules.sourcesMin} sources are needed (SKERRY_QUOTE_SOURCES_MIN), and of those named it is listed by: ${listed}`;
    return { level: 'fail', subject, message };
  }
  const prices = kept.filter((row) => row.coin === coin && listing.includes(row.source));
  const { fresh, spreadPercent, rate } = evaluatePrices(prices, rules, now);
  const silent = listing.filter((source) => !fresh.some((price) => price.source === source));
  const lastQuotes = silent.map((source) => describeLastQuote(source, prices));
  if ('fault' in rate) {
    return { level: 'fail', subject, message: [`${coin}: no rate: ${rate.fault}`, ...lastQuotes].join('; ') };
  }
  const newestS = Math.min(...fresh.map(({ quotedAt }) => ageS(quotedAt, now)));
  const summary = `${fresh.length} of ${listing.length} sources, ${spreadPercent} % apart, the newest ${newestS} s old`;
  const message = [`${coin}: ${rate.usd} of ${summary}`, ...lastQuotes].join('; ');
  return { level: silent.length > 0 ? 'note' : 'ok', subject, message };
}

function describeLastQuote(source: string, prices: readonly QuoteRow[]): string {
  const last = prices.find((price) => price.source === source);
  return last
    ? `${source} last gave one of ${formatSessionTime(last.quotedAt)} UTC`
    : `${source} never gave one`;
}

function isListed(source: string, coin: PricedCoin): boolean {
  const known: QuoteSource | undefined = isQuoteSource(source) ? QUOTE_SOURCES[source] : undefined;
  return known?.symbols[coin] !== undefined;
}

function euroFinding(kept: readonly QuoteRow[], now: Date): Finding {
  const subject = 'rates';
  const last = kept.find(({ coin }) => coin === 'EUR');
  if (!last)
    return {
      level: 'warn',
      subject,
      message: 'EUR: not heard of yet: euros are shown at a plausible rate, and never charged',
    };
  const message = `EUR: ${last.usd} US dollars, of ${last.quotedAt.toISOString().slice(0, 10)}`;
  if (isFresh(last.quotedAt, { maxAgeS: EURO_STALE_MS / SECOND_MS }, now))
    return { level: 'ok', subject, message };
  return {
    level: 'warn',
    subject,
    message: `${message}: SKERRY_EURO_URL gives nothing newer; it is shown, never charged`,
  };
}

function ageS(quotedAt: Date, now: Date): number {
  return Math.max(0, Math.round((now.getTime() - quotedAt.getTime()) / SECOND_MS));
}
