/** How each coin stands, as far as payers need to know. */
import { COIN_CODES, type CoinCode } from '../../spec/coins.ts';
import { listFailingChains } from '../../store/status.ts';
import type { Service } from '../context.ts';

/** A network that could not be read so often in a row is said to be late: a single failure passes within seconds. */
const FAILURES_WARNING = 10;

export interface CoinState {
  readonly coin: CoinCode;
  /** Whether there is anybody to give out addresses for it. */
  readonly taken: boolean;
  /** Whether payments are seen later than usual. */
  readonly late: boolean;
}

export async function readCoins(service: Pick<Service, 'db' | 'chains'>): Promise<CoinState[]> {
  const late = new Set((await listFailingChains(service.db, FAILURES_WARNING)).map(({ code }) => code));
  return COIN_CODES.map((coin) => ({ coin, taken: service.chains.has(coin), late: late.has(coin) }));
}
