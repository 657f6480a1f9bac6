/** The address of a new invoice. */
import { crashPoint } from '../../kernel/crash.ts';
import { inTime, NotInTime } from '../../kernel/in-time.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { ChainDriver, Deposit } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { givePooledBack } from '../../store/address-pool.ts';
import { beginCursor, giveIndexBack, takeIndex } from '../../store/coins.ts';
import type { Service } from '../context.ts';
import { isPoolCoin } from './address-pool.ts';

/** Somebody waits for the answer, at a rate that was just quoted. */
const PATIENCE_MS = 10 * SECOND_MS;

type Parts = Pick<Service, 'db'>;

interface Wanted {
  readonly id: string;
  readonly coin: CoinCode;
  readonly amountUnits: bigint;
}

export interface TakenAddress {
  readonly deposit: Deposit;
  /** For the next invoice: only where this one was not made, so that nobody has seen the address. */
  giveBack(): Promise<void>;
}

/**
 * Throws where the node cannot be asked, or does not answer in time. Then the number, or the place in the pool, is given back: tries
 * that fail, however many, leave no gap for the operator's wallet to bridge. One that comes too late was seen by nobody, and goes back too.
 */
export async function takeAddress(
  service: Parts,
  driver: ChainDriver,
  wanted: Wanted,
  patienceMs = PATIENCE_MS,
): Promise<TakenAddress> {
  const taking = allocate(service, driver, wanted);
  try {
    return await inTime(taking, patienceMs);
  } catch (error) {
    if (error instanceof NotInTime) void taking.then(({ giveBack }) => giveBack()).catch(() => undefined);
    throw error;
  }
}

async function allocate({ db }: Parts, driver: ChainDriver, wanted: Wanted): Promise<TakenAddress> {
  const { id, coin, amountUnits } = wanted;
  const { index, isUnread } = await takeIndex(db, coin);
  crashPoint('topup.numbered');
  const giveBack = async () => {
    if (isPoolCoin(coin)) await givePooledBack(db, coin, id);
    await giveIndexBack(db, coin, index);
  };
  try {
    // Before anybody can pay: however late the first poll comes, it begins here. Addresses of a pool are each read from their beginning.
    if (isUnread && !isPoolCoin(coin)) await beginCursor(db, coin, await endOfChain(driver));
    const deposit = await driver.allocate({ id, index, amountUnits });
    crashPoint('topup.allocated');
    return { deposit, giveBack };
  } catch (error) {
    await giveBack();
    throw error;
  }
}

/** Throws where the node is not there yet: reading would begin where it happens to be, at blocks that it may not keep. */
async function endOfChain(driver: ChainDriver): Promise<number> {
  const { ok, height, detail } = await driver.health();
  if (!ok) throw new Error(`where its chain ends the node does not know: ${detail}`);
  return height;
}
