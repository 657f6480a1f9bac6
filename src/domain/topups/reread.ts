import { OperatorError } from '../../kernel/operator-error.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { cursorHeight, lockCoin, rereadCoin } from '../../store/coins.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { isPoolCoin } from './address-pool.ts';

/**
 * Sets a coin back, so that its blocks are read again from that height on. What is known already changes nothing; what was
 * missed is found. Never forwards: what lies between would not be read at all.
 */
export async function rereadChain(
  service: Pick<Service, 'db' | 'clock'>,
  actor: Actor,
  { coin, height }: { readonly coin: CoinCode; readonly height: number },
): Promise<void> {
  if (isPoolCoin(coin)) {
    throw new OperatorError(
      `${coin} is not read block by block: each address is read from where it was given out`,
    );
  }
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const row = await lockCoin(tx, coin);
    if (!row) throw new OperatorError(`no address of ${coin} was ever given out: there is nothing to read`);
    const readTo = cursorHeight(row.cursor);
    if (readTo !== null && height > readTo) {
      throw new OperatorError(`${coin} was read up to block ${readTo}: give that one or a lower one`);
    }
    await rereadCoin(tx, coin, height);
    const note = `from block ${height}${readTo === null ? '' : `; it was read up to ${readTo}`}`;
    await recordAudit(tx, { actor, action: 'chain.reread', resource: coin, note }, now);
  });
}
