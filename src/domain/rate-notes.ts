/** How the rates of a live service stand, for the operator. */
import { isFresh, judgePrices, type Market } from '../kernel/market-rate.ts';
import { DAY_MS, SECOND_MS, sessionTime } from '../kernel/time.ts';
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
const EURO_OLD_MS = 7 * DAY_MS;

/**
 * One finding for each price that the coins need, and one for the euro. `look`: there is no rate, so the coin is not taken; `note`:
 * there is one, without one of the sources.
 */
export async function rateNotes(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  { market, coins }: { readonly market: Market; readonly coins: readonly CoinCode[] },
): Promise<Finding[]> {
  const priced = [...new Set(coins.map(pricedAs))];
  const kept = await listQuotes(db, [...priced, 'EUR']);
  const now = clock.now();
  const notes = priced.map((coin) => coinNote(coin, { kept, market, now }));
  return [...notes, euroNote(kept, now)];
}

interface Known {
  readonly kept: readonly QuoteRow[];
  readonly market: Market;
  readonly now: Date;
}

function coinNote(coin: PricedCoin, { kept, market, now }: Known): Finding {
  const what = 'rates';
  const { sources, rules } = market;
  const listing = sources.filter((source) => lists(source, coin));
  if (listing.length < rules.sourcesMin) {
    const has = listing.length === 0 ? 'none' : listing.join(', ');
    const says = `${coin}: no rate, ever: ${rules.sourcesMin} sources are needed (SKERRY_QUOTE_SOURCES_MIN), and of those named it is listed by: ${has}`;
    return { level: 'look', what, says };
  }
  const prices = kept.filter((row) => row.coin === coin && listing.includes(row.source));
  const { fresh, spreadPercent, rate } = judgePrices(prices, rules, now);
  const silent = listing.filter((source) => !fresh.some((price) => price.source === source));
  const heard = silent.map((source) => lastHeard(source, prices));
  if ('fault' in rate) {
    return { level: 'look', what, says: [`${coin}: no rate: ${rate.fault}`, ...heard].join('; ') };
  }
  const newestS = Math.min(...fresh.map(({ quotedAt }) => ageS(quotedAt, now)));
  const of = `${fresh.length} of ${listing.length} sources, ${spreadPercent} % apart, the newest ${newestS} s old`;
  const says = [`${coin}: ${rate.usd} of ${of}`, ...heard].join('; ');
  return { level: silent.length > 0 ? 'note' : 'ok', what, says };
}

function lastHeard(source: string, prices: readonly QuoteRow[]): string {
  const last = prices.find((price) => price.source === source);
  return last ? `${source} last gave one of ${sessionTime(last.quotedAt)} UTC` : `${source} never gave one`;
}

function lists(source: string, coin: PricedCoin): boolean {
  const known: QuoteSource | undefined = isQuoteSource(source) ? QUOTE_SOURCES[source] : undefined;
  return known?.names[coin] !== undefined;
}

function euroNote(kept: readonly QuoteRow[], now: Date): Finding {
  const what = 'rates';
  const last = kept.find(({ coin }) => coin === 'EUR');
  if (!last)
    return {
      level: 'look',
      what,
      says: 'EUR: not heard of yet: euros are shown at a plausible rate, and never charged',
    };
  const says = `EUR: ${last.usd} US dollars, of ${last.quotedAt.toISOString().slice(0, 10)}`;
  if (isFresh(last.quotedAt, { maxAgeS: EURO_OLD_MS / SECOND_MS }, now)) return { level: 'ok', what, says };
  return {
    level: 'look',
    what,
    says: `${says}: SKERRY_EURO_URL gives nothing newer; it is shown, never charged`,
  };
}

function ageS(quotedAt: Date, now: Date): number {
  return Math.max(0, Math.round((now.getTime() - quotedAt.getTime()) / SECOND_MS));
}
