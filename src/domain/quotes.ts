/** Reads coin prices and the euro rate from their sources and stores them. */
import { MAX_CLOCK_SKEW_MS } from '../kernel/market-rate.ts';
import { formatUnits, mulDiv, parseDecimal } from '../kernel/money.ts';
import { type EuroFeed, FeedError, type QuoteFeed } from '../ports/rates.ts';
import { type PricedCoin, pricedAs } from '../spec/quote-sources.ts';
import { saveEurRate } from '../store/service/service.ts';
import { type QuoteRow, saveQuotes } from '../store/topups/quotes.ts';
import type { Service } from './context.ts';

const EUR_DIGITS = 6;

/** Returns the coins that price the coins of this service. */
export function pricedCoins({ chains }: Pick<Service, 'chains'>): readonly PricedCoin[] {
  return [...new Set([...chains.keys()].map(pricedAs))];
}

/** Polls one source. Returns its problem in a stable wording, or null. */
export async function refreshQuotes(
  service: Pick<Service, 'db' | 'clock' | 'chains'>,
  feed: QuoteFeed,
  signal: AbortSignal,
): Promise<string | null> {
  // Time of the request, not of the response: a price must never look younger than it is.
  const requestedAt = service.clock.now();
  const result = await resultOrFault(() => feed.read(pricedCoins(service), signal));
  if (typeof result === 'string') return result;
  const { prices, missing } = result;
  const [early, usable] = [prices.filter(isEarly), prices.filter((price) => !isEarly(price))];
  await saveQuotes(
    service.db,
    usable.map(({ coin, usd, at }): QuoteRow => {
      const quotedAt = at === null || at > requestedAt ? requestedAt : at;
      return { coin, source: feed.source, usd, quotedAt };
    }),
  );
  const problems = [
    ...(missing.length > 0 ? [`no price for ${missing.join(', ')}`] : []),
    ...(early.length > 0 ? [`its clock is ahead of ours, or ours is behind`] : []),
  ];
  return problems.length > 0 ? problems.join('; ') : null;

  function isEarly({ at }: { readonly at: Date | null }): boolean {
    return at !== null && at.getTime() > service.clock.now().getTime() + MAX_CLOCK_SKEW_MS;
  }
}

/** Polls the euro rate like `refreshQuotes`. A known rate is kept until a new one arrives. */
export async function refreshEuro(
  { db }: Pick<Service, 'db'>,
  feed: EuroFeed,
  signal: AbortSignal,
): Promise<string | null> {
  const result = await resultOrFault(() => feed.read(signal));
  if (typeof result === 'string') return result;
  const { usd, at } = result;
  await db.transaction(async (tx) => {
    await saveQuotes(tx, [{ coin: 'EUR', source: feed.source, usd, quotedAt: at }]);
    await saveEurRate(tx, eurPerUsd(usd));
  });
  return null;
}

/** Inverts dollars per euro, rounded to six digits. The result is displayed, never charged. */
function eurPerUsd(usdPerEur: string): string {
  const rate = parseDecimal(usdPerEur);
  if (!rate || rate.digits === 0n) throw new RangeError('invalid euro rate');
  return formatUnits(mulDiv(10n ** BigInt(EUR_DIGITS), rate.scale, rate.digits, 'half_up'), EUR_DIGITS);
}

async function resultOrFault<T extends object>(read: () => Promise<T>): Promise<T | string> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FeedError) return error.message;
    throw error;
  }
}
