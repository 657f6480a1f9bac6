/** Asks the sources of prices and of the euro, and keeps what they say. */
import { MAX_CLOCK_SKEW_MS } from '../kernel/market-rate.ts';
import { formatUnits, mulDiv, parseDecimal } from '../kernel/money.ts';
import { type EuroFeed, FeedError, type QuoteFeed } from '../ports/rates.ts';
import { type PricedCoin, pricedAs } from '../spec/quote-sources.ts';
import { type QuoteRow, saveQuotes } from '../store/quotes.ts';
import { saveEurRate } from '../store/service.ts';
import type { Service } from './context.ts';

const EUR_DIGITS = 6;

/** Coins that this service takes, by whose price they go. */
export function pricedCoins({ chains }: Pick<Service, 'chains'>): readonly PricedCoin[] {
  return [...new Set([...chains.keys()].map(pricedAs))];
}

/** Asks one source once. The answer is what is wrong with it, in words that stay the same while it does; null: nothing. */
export async function refreshQuotes(
  service: Pick<Service, 'db' | 'clock' | 'chains'>,
  feed: QuoteFeed,
  signal: AbortSignal,
): Promise<string | null> {
  // Not when the answer has arrived: a price is never made younger than it is.
  const requestedAt = service.clock.now();
  const answer = await resultOrFault(() => feed.read(pricedCoins(service), signal));
  if (typeof answer === 'string') return answer;
  const { prices, missing } = answer;
  const [early, usable] = [prices.filter(isEarly), prices.filter((price) => !isEarly(price))];
  await saveQuotes(
    service.db,
    usable.map(({ coin, usd, at }): QuoteRow => {
      const quotedAt = at === null || at > requestedAt ? requestedAt : at;
      return { coin, source: feed.source, usd, quotedAt };
    }),
  );
  const problems = [
    ...(missing.length > 0 ? [`it has no price of ${missing.join(', ')}`] : []),
    ...(early.length > 0 ? [`its clock is ahead of ours, or ours is behind`] : []),
  ];
  return problems.length > 0 ? problems.join('; ') : null;

  function isEarly({ at }: { readonly at: Date | null }): boolean {
    return at !== null && at.getTime() > service.clock.now().getTime() + MAX_CLOCK_SKEW_MS;
  }
}

/** The same of the euro. What is known stays until there is something new. */
export async function refreshEuro(
  { db }: Pick<Service, 'db'>,
  feed: EuroFeed,
  signal: AbortSignal,
): Promise<string | null> {
  const answer = await resultOrFault(() => feed.read(signal));
  if (typeof answer === 'string') return answer;
  const { usd, at } = answer;
  await db.transaction(async (tx) => {
    await saveQuotes(tx, [{ coin: 'EUR', source: feed.source, usd, quotedAt: at }]);
    await saveEurRate(tx, eurPerUsd(usd));
  });
  return null;
}

/** From dollars for one euro, rounded to six digits: it is shown, never charged. */
function eurPerUsd(usdPerEur: string): string {
  const rate = parseDecimal(usdPerEur);
  if (!rate || rate.digits === 0n) throw new RangeError('a rate of the euro that is none');
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
