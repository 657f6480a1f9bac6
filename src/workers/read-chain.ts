/** One look at one chain: what it shows is applied first, then the cursor is saved. */
import type { Service } from '../domain/context.ts';
import { applyObservations, LeaseLost } from '../domain/topups/observations.ts';
import { crashPoint } from '../kernel/crash.ts';
import { SECOND_MS } from '../kernel/time.ts';
import type { Observation } from '../ports/chain.ts';
import { type ClaimedCoin, saveCursor } from '../store/coins.ts';
import { unfinishedKeys } from '../store/deposits.ts';

const RECHECK_BATCH = 200;
/** How old the note may be that a chain was read: a server whose cycle ended waits as long, and an idle chain is noted as often. */
const NOTED_EVERY_MS = 10 * SECOND_MS;

/**
 * Reads a coin under its lease; returns how many invoices changed. Throws LeaseLost once the lease is another's, and
 * whatever the driver, or an invoice that cannot be settled, threw: then the cursor stays.
 */
export async function readChain(service: Service, coin: ClaimedCoin, timeoutMs: number): Promise<number> {
  const { leaseId } = coin;
  const driver = service.chains.get(coin.code);
  if (!driver) return 0;
  const readAt = service.clock.now();
  const { cursor, observations } = await answerOf(driver.poll({ cursor: coin.cursor }), timeoutMs);
  crashPoint('credit.polled');
  let changed = await applyObservations(service, coin.code, observations, leaseId);
  const moved = cursor !== coin.cursor;
  for (const keys of await silentKeys(service, coin, moved, observations)) {
    const rechecked = await answerOf(driver.recheck(keys), timeoutMs);
    changed += await applyObservations(service, coin.code, rechecked, leaseId);
  }
  const noted = coin.readAt !== null && readAt.getTime() - coin.readAt.getTime() < NOTED_EVERY_MS;
  if (moved || coin.failures > 0 || !noted) {
    if (!(await saveCursor(service.db, coin.code, leaseId, { cursor, readAt }))) throw new LeaseLost();
    crashPoint('credit.cursor_saved');
  }
  return changed;
}

/**
 * Unfinished payments that the poll did not mention, in batches: one in the mempool should have been, so it is
 * gone; one in a block may have left it when the chain moved.
 */
async function silentKeys(
  service: Service,
  coin: ClaimedCoin,
  moved: boolean,
  observations: readonly Observation[],
): Promise<string[][]> {
  const told = new Set(observations.map((observation) => observation.key));
  const unfinished = await unfinishedKeys(service.db, coin.code, { included: moved });
  const silent = unfinished.filter((key) => !told.has(key));
  const batches: string[][] = [];
  for (let i = 0; i < silent.length; i += RECHECK_BATCH) batches.push(silent.slice(i, i + RECHECK_BATCH));
  return batches;
}

/** Gives up on a driver that does not answer, so that the coin is tried again. Waiting keeps no process from ending. */
async function answerOf<T>(asked: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DriverTimeout()), timeoutMs).unref();
  });
  try {
    return await Promise.race([asked, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

class DriverTimeout extends Error {
  override readonly name = 'DriverTimeout';
  override readonly message = 'the driver did not answer in time';
}
