/** Coins as staff read them: the rate, how far the chain was read, and the addresses. */
import { evaluatePrices } from '../../../kernel/market-rate.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { RateUnavailable } from '../../../ports/rates.ts';
import { COIN_CODES, type CoinCode, getCoin } from '../../../spec/coins.ts';
import { pricedAs } from '../../../spec/quote-sources.ts';
import { cursorHeight } from '../../../store/topups/coins.ts';
import { listOperatorCoins, type OperatorCoinRow } from '../../../store/topups/operator-coins.ts';
import { listQuotes } from '../../../store/topups/quotes.ts';
import type { Service } from '../../context.ts';
import { isPoolCoin } from '../addresses/pool.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'chains' | 'rates'>;

export type CoinObject = Awaited<ReturnType<typeof describeCoin>>;

/** Returns the accepted coins, and others that once were. */
export async function listCoinObjects(service: Deps): Promise<CoinObject[]> {
  const rows = new Map((await listOperatorCoins(service.db)).map((row) => [row.code, row]));
  const shown = COIN_CODES.filter((code) => service.chains.has(code) || rows.has(code));
  return await Promise.all(shown.map((code) => describeCoin(service, code, rows.get(code))));
}

/** Fails with an OperatorError for an unknown coin. */
export async function readCoinObject(service: Deps, name: string) {
  const coin = (await listCoinObjects(service)).find(({ id }) => id === name);
  if (!coin) throw new OperatorError('this coin is not accepted');
  const quotes = await listQuotes(service.db, [pricedAs(coin.id)]);
  return {
    ...coin,
    /** The latest price of each source, used or not. */
    quotes: quotes.map(({ source, usd, quotedAt }) => ({ source, usd, at: formatRfc3339(quotedAt) })),
  };
}

async function describeCoin(service: Deps, id: CoinCode, row: OperatorCoinRow | undefined) {
  const isAccepted = service.chains.has(id);
  const rate = isAccepted ? await describeRate(service, id) : NO_RATE;
  return {
    object: 'coin' as const,
    id,
    network: getCoin(id).network,
    state: stateOf(isAccepted, rate, row),
    accepted: isAccepted,
    ...rate,
    height: cursorHeight(row?.cursor ?? null),
    read_at: row?.read_at ? formatRfc3339(row.read_at) : null,
    failures: row?.failures ?? 0,
    last_fault: row?.last_fault ?? null,
    next_index: row?.next_index ?? 0,
    addresses_given: Number(row?.given ?? 0n),
    /** Null: its addresses are derived. */
    pool_size: isPoolCoin(id) ? Number(row?.pooled ?? 0n) : null,
    pool_free: isPoolCoin(id) ? Number(row?.free ?? 0n) : null,
    behind_marks: row?.behind ?? false,
  };
}

type CoinState = 'ok' | 'not accepted' | 'behind its marks' | 'not read' | 'no rate';

function stateOf(isAccepted: boolean, rate: RateState, row: OperatorCoinRow | undefined): CoinState {
  if (row?.behind) return 'behind its marks';
  if (!isAccepted) return 'not accepted';
  if ((row?.failures ?? 0) > 0) return 'not read';
  return rate.rate_usd === null ? 'no rate' : 'ok';
}

interface RateState {
  readonly rate_usd: string | null;
  readonly rate_problem: string | null;
  readonly rate_sources: readonly string[];
  /** The oldest of the prices that the rate is from. */
  readonly rate_at: string | null;
  readonly spread_percent: string | null;
}

const NO_RATE: RateState = {
  ...{ rate_usd: null, rate_problem: null, rate_sources: [], rate_at: null, spread_percent: null },
};
/** The prices of a rate passed the limits already. */
const ANY_PRICES = { sourcesMin: 1, maxAgeS: 10 ** 9, maxSpreadPercent: 100 } as const;

async function describeRate({ rates, clock }: Deps, coin: CoinCode): Promise<RateState> {
  try {
    const { usd, quotes } = await rates.usdPerCoin(coin);
    const prices = quotes.map((quote) => ({ ...quote, quotedAt: new Date(quote.at) }));
    return {
      rate_usd: usd,
      rate_problem: null,
      rate_sources: quotes.map(({ source }) => source),
      rate_at: quotes.map(({ at }) => at).toSorted()[0] ?? null,
      spread_percent: evaluatePrices(prices, ANY_PRICES, clock.now()).spreadPercent,
    };
  } catch (error) {
    if (error instanceof RateUnavailable) return { ...NO_RATE, rate_problem: error.message };
    throw error;
  }
}
