/** Reads one chain once: applies its observations first, then saves the cursor. */
import type { Service } from '../domain/context.ts';
import {
  type ApplyResult,
  applyObservations,
  priceLatePayments,
} from '../domain/topups/settlement/observations.ts';
import { LeaseLost } from '../kernel/fail.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { withTimeout } from '../kernel/timeout.ts';
import type { ChainDriver, Observation, PollResult } from '../ports/chain.ts';
import { cursorHeight, type LeasedCoin, saveCursor } from '../store/topups/coins.ts';
import {
  type DepositKey,
  listOldestUnfinishedDeposits,
  listUnfinishedDeposits,
  type UnfinishedFilter,
} from '../store/topups/deposits.ts';

const RECHECK_BATCH_SIZE = 200;
/** Limit of payments of one invoice that are settled together: each batch loads all of its payments. */
const GATHERED_MAX = 5_000;
/** How often the read time of a chain is stored. A server whose cycle ended may wait this long for it. */
const READ_NOTE_INTERVAL_MS = 10 * SECOND_MS;

/**
 * Reads a coin under its lease. Returns how many invoices changed, or at least 1 while there is more to read.
 * Throws LeaseLost if another process holds the lease, or the driver's error; the cursor stays then. The
 * error of an invoice that could not be settled is thrown last, after all others are served. The cursor is
 * saved even then, if the invoice's payments will be checked again.
 */
export async function readChain(service: Service, coin: LeasedCoin, timeoutMs: number): Promise<number> {
  const { leaseId } = coin;
  const reading = { leaseId, readAt: coin.readAt };
  const driver = service.chains.get(coin.code);
  if (!driver) return 0;
  const readAt = service.clock.now();
  const polled = await withTimeout(driver.poll({ cursor: coin.cursor }), timeoutMs);
  const { cursor, isComplete } = polled;
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
  }
  await polled.commit?.();
  if (sum.failures.length > 0) throw sum.failures[0];
  // Unread blocks are work that is due at once.
  return isComplete ? sum.changed : sum.changed + 1;
}

/**
 * Whether a fully read chain is current: a node that lost its network reports no new blocks, like a quiet
 * chain. A failing check is reported to the operator elsewhere.
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
  /** All keys belong to one invoice, and the next batch may too. */
  readonly hasMore: boolean;
}

/**
 * Yields unfinished payments that the poll did not mention, in batches. One in the mempool should have been
 * mentioned, so it vanished; one in a block may have left it in a reorganization. While the chain is only
 * partly read, yields one batch of the oldest, because each step would ask for all of them again.
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
