/** Allocates the address of a new invoice. */
import { SECOND_MS } from '../../../kernel/time.ts';
import { TimeoutError, withTimeout } from '../../../kernel/timeout.ts';
import type { ChainDriver, Deposit } from '../../../ports/chain.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import { releasePooledAddress } from '../../../store/topups/addresses.ts';
import { allocateIndex, initializeCursor, releaseIndex } from '../../../store/topups/coins.ts';
import { countGiven } from '../../../store/topups/marks.ts';
import type { Service } from '../../context.ts';
import { isPoolCoin } from './pool.ts';

/** A customer is waiting, at a rate that was just quoted. */
const TIMEOUT_MS = 10 * SECOND_MS;

type Deps = Pick<Service, 'db' | 'marks'>;

interface AddressRequest {
  readonly id: string;
  readonly coin: CoinCode;
  readonly amountUnits: bigint;
}

export interface AllocatedAddress {
  readonly deposit: Deposit;
  /**
   * Returns the address to the pool. Only for an invoice that was not created, so no one has seen the
   * address.
   */
  release(): Promise<void>;
}

/**
 * Allocates an address. Throws if the node fails or does not respond in time, and then returns the index or
 * pool address: failed attempts must not create gaps that the operator's wallet has to scan. A late
 * response was seen by no one and is returned too.
 */
export async function allocateAddress(
  service: Deps,
  driver: ChainDriver,
  wanted: AddressRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<AllocatedAddress> {
  const pending = allocateOnce(service, driver, wanted);
  try {
    return await withTimeout(pending, timeoutMs);
  } catch (error) {
    if (error instanceof TimeoutError) void pending.then(({ release }) => release()).catch(() => undefined);
    throw error;
  }
}

async function allocateOnce(
  { db, marks }: Deps,
  driver: ChainDriver,
  wanted: AddressRequest,
): Promise<AllocatedAddress> {
  const { id, coin, amountUnits } = wanted;
  const { index, isUnread } = await allocateIndex(db, coin);
  const release = async () => {
    if (isPoolCoin(coin)) await releasePooledAddress(db, coin, id);
    await releaseIndex(db, coin, index);
  };
  try {
    // Set the cursor before anyone can pay, so that even a late first poll starts here. Pool addresses are
    // read individually.
    if (isUnread && !isPoolCoin(coin)) await initializeCursor(db, coin, await chainTip(driver));
    const deposit = await driver.allocate({ id, index, amountUnits });
    // Outside the database, before anyone sees the address: a restored database does not know it.
    await marks.raise(coin, await countGiven(db, coin, { pooled: isPoolCoin(coin) }));
    return { deposit, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * Returns the height of the chain. Throws unless the node is synced: otherwise reading could start at
 * pruned blocks.
 */
async function chainTip(driver: ChainDriver): Promise<number> {
  const { ok, height, detail } = await driver.health();
  if (!ok) throw new Error(`the node does not know the current height: ${detail}`);
  return height;
}
