import { OperatorError } from '../../kernel/operator-error.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import { skipPooledAddresses } from '../../store/address-pool.ts';
import { lockCoin, skipIndexes } from '../../store/coins.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { isPoolCoin } from './address-pool.ts';

/** What was passed by: derivation numbers, and the first that is given out after them; or addresses of a pool. */
export type SkipResult = { readonly next: number } | { readonly addresses: number };

/**
 * Passes addresses by, for good. A database that was put back from a backup does not know those that were given out since: whoever
 * got one a second time would be credited what the first customer pays.
 */
export async function skipAddresses(
  service: Pick<Service, 'db' | 'clock' | 'chains'>,
  actor: Actor,
  { coin, count }: { readonly coin: CoinCode; readonly count: number },
): Promise<SkipResult> {
  if (count > LIMITS.addressSkipMax)
    throw new OperatorError(`give at most ${LIMITS.addressSkipMax} addresses at once`);
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const isKnown = (await lockCoin(tx, coin)) !== undefined;
    if (!isKnown && !service.chains.has(coin)) {
      throw new OperatorError(`${coin} is not taken, and no address of it was ever given out`);
    }
    let skipped: SkipResult;
    if (isPoolCoin(coin)) {
      const addresses = await skipPooledAddresses(tx, coin, count, now);
      if (addresses === 0) throw new OperatorError(`no address of ${coin} is left that could be passed by`);
      skipped = { addresses };
    } else {
      const next = await skipIndexes(tx, coin, count);
      if (next === null) throw new OperatorError(`${coin} has not so many numbers left: give fewer`);
      skipped = { next };
    }
    const note = 'next' in skipped ? `${count}, to number ${skipped.next}` : `${skipped.addresses} addresses`;
    await recordAudit(tx, { actor, action: 'chain.skip', resource: coin, note }, now);
    return skipped;
  });
}
