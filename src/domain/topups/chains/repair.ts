/** Repairs by the operator: skips addresses, or reads blocks again. */
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { incrementRulesVersion } from '../../../store/service/rules.ts';
import { skipPooledAddresses } from '../../../store/topups/addresses.ts';
import { cursorHeight, lockCoin, rereadCoin, skipIndexes } from '../../../store/topups/coins.ts';
import { countSkipped } from '../../../store/topups/marks.ts';
import type { Actor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { isPoolCoin } from '../addresses/pool.ts';

/** The result: the next derivation index, or the number of pool addresses skipped. */
export type SkipResult = { readonly next: number } | { readonly addresses: number };

/**
 * Skips addresses permanently. A restored database does not know addresses given out since the backup. If
 * one were given out again, its new holder would be credited for payments of the first customer.
 */
export async function skipAddresses(
  service: Pick<Service, 'db' | 'clock' | 'chains'>,
  actor: Actor,
  { coin, count }: { readonly coin: CoinCode; readonly count: number },
): Promise<SkipResult> {
  if (count > LIMITS.addressSkipMax)
    throw new OperatorError(`skip at most ${LIMITS.addressSkipMax} addresses at once`);
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const isKnown = (await lockCoin(tx, coin)) !== undefined;
    if (!isKnown && !service.chains.has(coin)) {
      throw new OperatorError(`${coin} is not accepted, and no address of it has been given out`);
    }
    let skipped: SkipResult;
    if (isPoolCoin(coin)) {
      const addresses = await skipPooledAddresses(tx, coin, count, now);
      if (addresses === 0) throw new OperatorError(`no ${coin} address is left to skip`);
      await countSkipped(tx, coin, addresses);
      skipped = { addresses };
    } else {
      const next = await skipIndexes(tx, coin, count);
      if (next === null) throw new OperatorError(`${coin} has fewer indexes left: choose a lower count`);
      skipped = { next };
    }
    const note = 'next' in skipped ? `${count}, to index ${skipped.next}` : `${skipped.addresses} addresses`;
    await recordAudit(tx, { actor, action: 'chain.skip', resource: coin, note }, now);
    // It may have ended a recovery.
    await incrementRulesVersion(tx);
    return skipped;
  });
}

/**
 * Moves a coin's cursor back, so that its blocks are read again from that height. Known payments do not
 * change; missed ones are found. Never moves forward, because the skipped blocks would never be read.
 */
export async function rereadChain(
  service: Pick<Service, 'db' | 'clock'>,
  actor: Actor,
  { coin, height }: { readonly coin: CoinCode; readonly height: number },
): Promise<void> {
  if (isPoolCoin(coin)) {
    throw new OperatorError(
      `${coin} is not read by block: each address is read from the moment it was given out`,
    );
  }
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const row = await lockCoin(tx, coin);
    if (!row) throw new OperatorError(`no ${coin} address has been given out: there is nothing to read`);
    const readTo = cursorHeight(row.cursor);
    if (readTo !== null && height > readTo) {
      throw new OperatorError(`${coin} is read up to block ${readTo}: choose this block or a lower one`);
    }
    await rereadCoin(tx, coin, height);
    const note = `from block ${height}${readTo === null ? '' : `; it was read up to ${readTo}`}`;
    await recordAudit(tx, { actor, action: 'chain.reread', resource: coin, note }, now);
  });
}
