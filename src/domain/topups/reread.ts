import { OperatorError } from '../../kernel/operator-error.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { cursorHeight, lockCoin, rereadCoin } from '../../store/topups/coins.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { isPoolCoin } from './address-pool.ts';

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
