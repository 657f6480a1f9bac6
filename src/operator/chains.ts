/** How real coins stand: what `chain doctor` and `doctor` print. */
import { rateNotes } from '../domain/rate-notes.ts';
import type { Finding } from '../domain/status.ts';
import { chainNotes } from '../domain/topups/chain-notes.ts';
import { NO_COIN } from '../domain/topups/coin-alarms.ts';
import type { OpenService } from './context.ts';

export async function examineChains(open: OpenService): Promise<Finding[]> {
  const { service, coins } = open;
  if (coins === null) return [{ level: 'ok', what: 'coins', says: 'simulated: there is no node to ask' }];
  if (service.chains.size === 0) return [NO_COIN];
  return [...(await chainNotes(service)), ...(await examineRates(open))];
}

/** How the prices of the coins that are taken stand; nothing of a sandbox, whose rates nobody asks for. */
export async function examineRates({ service, coins }: OpenService): Promise<Finding[]> {
  const taken = [...service.chains.keys()];
  if (coins === null || taken.length === 0) return [];
  return await rateNotes(service, { market: coins.market, coins: taken });
}
