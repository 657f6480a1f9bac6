/** The address of a new invoice. */
import { crashPoint } from '../../kernel/crash.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { TimeoutError, withTimeout } from '../../kernel/with-timeout.ts';
import type { ChainDriver, Deposit } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { releasePooledAddress } from '../../store/address-pool.ts';
import { allocateIndex, initializeCursor, releaseIndex } from '../../store/coins.ts';
import type { Service } from '../context.ts';
import { isPoolCoin } from './address-pool.ts';

/** Somebody waits for the answer, at a rate that was just quoted. */
const TIMEOUT_MS = 10 * SECOND_MS;

type Deps = Pick<Service, 'db'>;

interface AddressRequest {
  readonly id: string;
  readonly coin: CoinCode;
  readonly amountUnits: bigint;
}

export interface AllocatedAddress {
  readonly deposit: Deposit;
  /** For the next invoice: only where this one was not made, so that nobody has seen the address. */
  release(): Promise<void>;
}

/**
 * Throws where the node cannot be asked, or does not answer in time. Then the number, or the place in the pool, is given back: tries
 * that fail, however many, leave no gap for the operator's wallet to bridge. One that comes too late was seen by nobody, and goes back too.
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
  { db }: Deps,
  driver: ChainDriver,
  wanted: AddressRequest,
): Promise<AllocatedAddress> {
  const { id, coin, amountUnits } = wanted;
  const { index, isUnread } = await allocateIndex(db, coin);
  crashPoint('topup.numbered');
  const release = async () => {
    if (isPoolCoin(coin)) await releasePooledAddress(db, coin, id);
    await releaseIndex(db, coin, index);
  };
  try {
    // Before anybody can pay: however late the first poll comes, it begins here. Addresses of a pool are each read from their beginning.
    if (isUnread && !isPoolCoin(coin)) await initializeCursor(db, coin, await chainTip(driver));
    const deposit = await driver.allocate({ id, index, amountUnits });
    crashPoint('topup.allocated');
    return { deposit, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Throws where the node is not there yet: reading would begin where it happens to be, at blocks that it may not keep. */
async function chainTip(driver: ChainDriver): Promise<number> {
  const { ok, height, detail } = await driver.health();
  if (!ok) throw new Error(`where its chain ends the node does not know: ${detail}`);
  return height;
}
