/** The euro rate: shown, never charged, so a silent source must not hold anything up. */
import { SECOND_MS } from '../kernel/time.ts';
import { readEurRate, saveEurRate } from '../store/service.ts';
import type { Service } from './context.ts';

const TIMEOUT_MS = 2 * SECOND_MS;

/**
 * Euros for one US dollar as decimal text. In a live service it is what was heard last: a duty of the workers listens, and no
 * request calls out. In a sandbox it is of now, or the last known when the source does not answer in 2 seconds.
 */
export async function eurPerUsd(service: Service): Promise<string> {
  return service.settings.mode === 'live' ? await readEurRate(service.db) : await fetchCurrentRate(service);
}

async function fetchCurrentRate(service: Service): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the source of the euro rate is silent')), TIMEOUT_MS);
  });
  try {
    const rate = await Promise.race([service.rates.eurPerUsd(), timeout]);
    await saveEurRate(service.db, rate);
    return rate;
  } catch (error) {
    service.log.warn({ err: error }, 'the last known euro rate is used');
    return await readEurRate(service.db);
  } finally {
    clearTimeout(timer);
  }
}
