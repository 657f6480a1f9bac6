/** One look at one chain: what it shows is applied first, then the cursor is saved. */
import type { Service } from '../domain/context.ts';
import { LeaseLost } from '../domain/topups/change.ts';
import { type Applied, applyObservations, priceLate } from '../domain/topups/observations.ts';
import { crashPoint } from '../kernel/crash.ts';
import { inTime } from '../kernel/in-time.ts';
import { SECOND_MS } from '../kernel/time.ts';
import type { ChainDriver, Observation, Polled } from '../ports/chain.ts';
import { type ClaimedCoin, cursorHeight, saveCursor } from '../store/coins.ts';
import {
  type DepositName,
  listOldestUnfinished,
  listUnfinished,
  type Unfinished,
} from '../store/deposits.ts';

const RECHECK_BATCH = 200;
/** Of one invoice that has thousands of payments so many are settled together: each time all that it has is looked at. */
const GATHERED_MOST = 5_000;
/** How old the note may be that a chain was read: a server whose cycle ended waits as long, and an idle chain is noted as often. */
const NOTED_EVERY_MS = 10 * SECOND_MS;

/**
 * Reads a coin under its lease; returns how many invoices changed, or at least 1 while there is more to read. Throws LeaseLost
 * once the lease is another's, and whatever the driver threw: then the cursor stays. What an invoice threw that could not be
 * settled comes at the end, when all others are served: the cursor is saved all the same, if its payments are asked for again.
 */
export async function readChain(service: Service, coin: ClaimedCoin, timeoutMs: number): Promise<number> {
  const { leaseId } = coin;
  const reading = { leaseId, readAt: coin.readAt };
  const driver = service.chains.get(coin.code);
  if (!driver) return 0;
  const readAt = service.clock.now();
  const polled = await inTime(driver.poll({ cursor: coin.cursor }), timeoutMs);
  const { cursor, whole } = polled;
  crashPoint('credit.polled');
  const moved = cursor !== coin.cursor;
  const sum = new Sum();
  sum.add(await applyObservations(service, coin.code, polled.observations, reading));
  const gathered: Observation[] = [];
  for await (const { keys, goesOn } of silentOnes(service, coin, polled)) {
    if (keys.length > 0) gathered.push(...(await inTime(driver.recheck(keys), timeoutMs)));
    if (goesOn && gathered.length < GATHERED_MOST) continue;
    sum.add(await applyObservations(service, coin.code, gathered.splice(0), reading));
  }
  sum.add(await priceLate(service, coin.code, reading));
  if (!sum.inSight) throw sum.failures[0];
  const noted = coin.readAt !== null && readAt.getTime() - coin.readAt.getTime() < NOTED_EVERY_MS;
  const isBack = coin.failures > 0 && sum.failures.length === 0;
  const isRead = whole && !noted && (await isWell(driver, timeoutMs));
  if (moved || isBack || isRead) {
    const read = { cursor, readAt: isRead ? readAt : null };
    if (!(await saveCursor(service.db, coin.code, leaseId, read))) throw new LeaseLost();
    crashPoint('credit.cursor_saved');
  }
  await polled.keep?.();
  if (sum.failures.length > 0) throw sum.failures[0];
  // What is not read yet is more to do at once.
  return whole ? sum.changed : sum.changed + 1;
}

/**
 * Whether a chain that was read to its end was read at all: a node that lost its network tells no new block, as one does whose chain
 * has none. What is wrong with it, or why it does not say, is for the operator, who asks for its health as well.
 */
async function isWell(driver: ChainDriver, timeoutMs: number): Promise<boolean> {
  if (driver.isSimulated) return true;
  return await inTime(driver.health(), timeoutMs).then(
    ({ ok }) => ok,
    () => false,
  );
}

class Sum implements Applied {
  changed = 0;
  readonly failures: unknown[] = [];
  inSight = true;

  add({ changed, failures, inSight }: Applied): void {
    this.changed += changed;
    this.failures.push(...failures);
    this.inSight &&= inSight;
  }
}

interface Silent {
  readonly keys: readonly string[];
  /** They are all of one invoice, and what follows may be so too. */
  readonly goesOn: boolean;
}

/**
 * Unfinished payments that the poll did not mention, in batches: one in the mempool should have been, so it is
 * gone; one in a block may have left it when the chain moved. While the chain is not read whole a batch of the oldest will do:
 * each step would ask for all of them again.
 */
async function* silentOnes(
  service: Service,
  coin: ClaimedCoin,
  { cursor, observations, whole }: Polled,
): AsyncGenerator<Silent> {
  const which: Unfinished = { moved: cursor !== coin.cursor, tip: cursorHeight(cursor) };
  const told = new Set(observations.map((observation) => observation.key));
  const silent = (names: readonly DepositName[]) =>
    names.map(({ key }) => key).filter((key) => !told.has(key));
  if (!whole) {
    const oldest = await listOldestUnfinished(service.db, coin.code, which, RECHECK_BATCH);
    yield { keys: silent(oldest), goesOn: false };
    return;
  }
  let after: DepositName | null = null;
  while (true) {
    const page = { after, limit: RECHECK_BATCH };
    const names: DepositName[] = await listUnfinished(service.db, coin.code, which, page);
    after = names.at(-1) ?? null;
    const isLast = names.length < RECHECK_BATCH;
    yield { keys: silent(names), goesOn: !isLast && names[0]?.topup_id === after?.topup_id };
    if (isLast) return;
  }
}
