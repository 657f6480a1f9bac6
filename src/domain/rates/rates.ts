/**
 * The euro rate and coin prices. The euro rate is displayed, never charged, so a silent source must not
 * block anything.
 */

import { invertRate, MAX_CLOCK_SKEW_MS } from '../../kernel/market-rate.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { withTimeout } from '../../kernel/timeout.ts';
import { type EuroFeed, FeedError, type QuoteFeed } from '../../ports/rates.ts';
import { type PricedCoin, pricedAs } from '../../spec/quote-sources.ts';
import { readEurRate, saveEurRate } from '../../store/service/service.ts';
import { type QuoteRow, saveQuotes } from '../../store/topups/quotes.ts';
import type { Service } from '../context.ts';

const TIMEOUT_MS = 2 * SECOND_MS;

/**
 * Returns euros per US dollar as decimal text. A live service returns the fixed or the last stored rate, so
 * no request calls out. A sandbox asks its source, and falls back to the last known rate after 2 seconds.
 */
export async function eurPerUsd(service: Service): Promise<string> {
  return service.settings.mode === 'live' ? await service.rates.eurPerUsd() : await fetchCurrentRate(service);
}

async function fetchCurrentRate(service: Service): Promise<string> {
  const silent = () => new Error('the source of the euro rate does not respond');
  try {
    const rate = await withTimeout(service.rates.eurPerUsd(), TIMEOUT_MS, silent);
    await saveEurRate(service.db, rate);
    return rate;
  } catch (error) {
    service.log.warn({ err: error }, 'reading the euro rate failed; using the last known rate');
    return await readEurRate(service.db);
  }
}

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
    await saveEurRate(tx, invertRate(usd));
  });
  return null;
}

async function resultOrFault<T extends object>(read: () => Promise<T>): Promise<T | string> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FeedError) return error.message;
    throw error;
  }
}
