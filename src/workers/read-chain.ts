/** One look at one chain: what it shows is applied first, then the cursor is saved. */
import type { Service } from '../domain/context.ts';
import { LeaseLost } from '../domain/topups/change-deposits.ts';
import { type ApplyResult, applyObservations, priceLatePayments } from '../domain/topups/observations.ts';
import { crashPoint } from '../kernel/crash.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { withTimeout } from '../kernel/with-timeout.ts';
import type { ChainDriver, Observation, PollResult } from '../ports/chain.ts';
import { cursorHeight, type LeasedCoin, saveCursor } from '../store/coins.ts';
import {
  type DepositKey,
  listOldestUnfinishedDeposits,
  listUnfinishedDeposits,
  type UnfinishedFilter,
} from '../store/deposits.ts';

const RECHECK_BATCH_SIZE = 200;
/** Of one invoice that has thousands of payments so many are settled together: each time all that it has is looked at. */
const GATHERED_MAX = 5_000;
/** How old the note may be that a chain was read: a server whose cycle ended waits as long, and an idle chain is noted as often. */
const READ_NOTE_INTERVAL_MS = 10 * SECOND_MS;

/**
 * Reads a coin under its lease; returns how many invoices changed, or at least 1 while there is more to read. Throws LeaseLost
 * once the lease is another's, and whatever the driver threw: then the cursor stays. What an invoice threw that could not be
 * settled comes at the end, when all others are served: the cursor is saved all the same, if its payments are asked for again.
 */
export async function readChain(service: Service, coin: LeasedCoin, timeoutMs: number): Promise<number> {
  const { leaseId } = coin;
  const reading = { leaseId, readAt: coin.readAt };
  const driver = service.chains.get(coin.code);
  if (!driver) return 0;
  const readAt = service.clock.now();
  const polled = await withTimeout(driver.poll({ cursor: coin.cursor }), timeoutMs);
  const { cursor, isComplete } = polled;
  crashPoint('credit.polled');
  const moved = cursor !== coin.cursor;
  const sum = new AppliedTotal();
  sum.add(await applyObservations(service, coin.code, polled.observations, reading));
  const observations: Observation[] = [];
  for await (const { keys, hasMore } of unmentionedDeposits(service, coin, polled)) {
    if (keys.length > 0) observations.push(...(await withTimeout(driver.recheck(keys), timeoutMs)));
    if (hasMore && observations.length < GATHERED_MAX) continue;
    sum.add(await applyObservations(service, coin.code, observations.splice(0), reading));
  }
  sum.add(await priceLatePayments(service, coin.code, reading));
  if (!sum.allTracked) throw sum.failures[0];
  const isRecentlyNoted =
    coin.readAt !== null && readAt.getTime() - coin.readAt.getTime() < READ_NOTE_INTERVAL_MS;
  const hasRecovered = coin.failures > 0 && sum.failures.length === 0;
  const isRead = isComplete && !isRecentlyNoted && (await isHealthy(driver, timeoutMs));
  if (moved || hasRecovered || isRead) {
    const read = { cursor, readAt: isRead ? readAt : null };
    if (!(await saveCursor(service.db, coin.code, leaseId, read))) throw new LeaseLost();
    crashPoint('credit.cursor_saved');
  }
  await polled.commit?.();
  if (sum.failures.length > 0) throw sum.failures[0];
  // What is not read yet is more to do at once.
  return isComplete ? sum.changed : sum.changed + 1;
}

/**
 * Whether a chain that was read to its end was read at all: a node that lost its network tells no new block, as one does whose chain
 * has none. What is wrong with it, or why it does not say, is for the operator, who asks for its health as well.
 */
async function isHealthy(driver: ChainDriver, timeoutMs: number): Promise<boolean> {
  if (driver.isSimulated) return true;
  return await withTimeout(driver.health(), timeoutMs).then(
    ({ ok }) => ok,
    () => false,
  );
}

class AppliedTotal implements ApplyResult {
  changed = 0;
  readonly failures: unknown[] = [];
  allTracked = true;

  add({ changed, failures, allTracked }: ApplyResult): void {
    this.changed += changed;
    this.failures.push(...failures);
    this.allTracked &&= allTracked;
  }
}

interface RecheckBatch {
  readonly keys: readonly string[];
  /** They are all of one invoice, and what follows may be so too. */
  readonly hasMore: boolean;
}

/**
 * Unfinished payments that the poll did not mention, in batches: one in the mempool should have been, so it is
 * gone; one in a block may have left it when the chain moved. While the chain is not read whole a batch of the oldest will do:
 * each step would ask for all of them again.
 */
async function* unmentionedDeposits(
  service: Service,
  coin: LeasedCoin,
  { cursor, observations, isComplete }: PollResult,
): AsyncGenerator<RecheckBatch> {
  const filter: UnfinishedFilter = { moved: cursor !== coin.cursor, tip: cursorHeight(cursor) };
  const polledKeys = new Set(observations.map((observation) => observation.key));
  const withoutPolled = (names: readonly DepositKey[]) =>
    names.map(({ key }) => key).filter((key) => !polledKeys.has(key));
  if (!isComplete) {
    const oldest = await listOldestUnfinishedDeposits(service.db, coin.code, filter, RECHECK_BATCH_SIZE);
    yield { keys: withoutPolled(oldest), hasMore: false };
    return;
  }
  let after: DepositKey | null = null;
  while (true) {
    const page = { after, limit: RECHECK_BATCH_SIZE };
    const names: DepositKey[] = await listUnfinishedDeposits(service.db, coin.code, filter, page);
    after = names.at(-1) ?? null;
    const isLast = names.length < RECHECK_BATCH_SIZE;
    yield { keys: withoutPolled(names), hasMore: !isLast && names[0]?.topup_id === after?.topup_id };
    if (isLast) return;
  }
}
