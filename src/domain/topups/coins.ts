/** The state of each coin, for payers. */
import { COIN_CODES, type CoinCode } from '../../spec/coins.ts';
import { listFailingChains } from '../../store/service/status.ts';
import type { Service } from '../context.ts';

/** This many consecutive failures count as a delay; a single failure recovers within seconds. */
const FAILURES_WARNING = 10;

export interface CoinState {
  readonly coin: CoinCode;
  /** Whether the service gives out addresses for it. */
  readonly taken: boolean;
  /** Whether payments are detected later than usual. */
  readonly late: boolean;
}

export async function readCoins(service: Pick<Service, 'db' | 'chains'>): Promise<CoinState[]> {
  const late = new Set((await listFailingChains(service.db, FAILURES_WARNING)).map(({ code }) => code));
  return COIN_CODES.map((coin) => ({ coin, taken: service.chains.has(coin), late: late.has(coin) }));
}
