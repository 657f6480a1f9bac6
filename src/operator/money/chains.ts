/** Findings about real coins, for `chain doctor` and `doctor`. */

import type { Finding } from '../../domain/health/status.ts';
import { rateFindings } from '../../domain/rates/findings.ts';
import { NO_COINS } from '../../domain/topups/chains/coin-findings.ts';
import { chainFindings } from '../../domain/topups/chains/findings.ts';
import type { OpenService } from '../context.ts';

export async function checkChains(open: OpenService): Promise<Finding[]> {
  const { service, coins } = open;
  if (coins === null) return [{ level: 'ok', subject: 'coins', message: 'simulated: no nodes to check' }];
  if (service.chains.size === 0) return [NO_COINS];
  return [...(await chainFindings(service)), ...(await checkRates(open))];
}

/** Checks the prices of the enabled coins. A sandbox has no market and no findings. */
export async function checkRates({ service, coins }: OpenService): Promise<Finding[]> {
  const enabledCoins = [...service.chains.keys()];
  if (coins === null || enabledCoins.length === 0) return [];
  const { market, fixedPrices } = coins;
  return await rateFindings(service, { market, fixedPrices, coins: enabledCoins });
}
