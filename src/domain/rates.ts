/** The euro rate. It is displayed, never charged, so a silent source must not block anything. */
import { SECOND_MS } from '../kernel/time.ts';
import { withTimeout } from '../kernel/timeout.ts';
import { readEurRate, saveEurRate } from '../store/service/service.ts';
import type { Service } from './context.ts';

const TIMEOUT_MS = 2 * SECOND_MS;

/**
 * Returns euros per US dollar as decimal text. A live service returns the last rate that a worker stored,
 * so no request calls out. A sandbox asks its source, and falls back to the last known rate after 2
 * seconds.
 */
export async function eurPerUsd(service: Service): Promise<string> {
  return service.settings.mode === 'live' ? await readEurRate(service.db) : await fetchCurrentRate(service);
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
