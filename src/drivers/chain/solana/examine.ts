/**
 * Findings about Solana for the operator: the free addresses in the pool, and how much history the node has.
 */
import { DAY_MS } from '../../../kernel/time.ts';
import type { AddressPool, ChainFinding, WatchedAddress } from '../../../ports/chain.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { SolanaNode } from './node.ts';
import { formatMark, UNREAD_MARK } from './position.ts';

export const RECENT_DAYS = 7;
/** Counting stops here; the exact number of more doesn't matter. */
const COUNT_MAX = 10_000;
const PAGE_SIZE = 100;
/** The most recently assigned addresses to check. */
const SCANNED_ADDRESSES_MAX = 5_000;

/** `since` is RECENT_DAYS ago. */
export async function examineSolana(
  node: SolanaNode,
  pool: AddressPool,
  since: Date,
): Promise<readonly ChainFinding[]> {
  const notes = [await examinePool(pool, since), await examineLedgerAge(node)];
  const unlisted = await countUnlisted(node, pool);
  if (unlisted === 0) return notes;
  const message =
    `addresses with a balance for which the node lists no transactions: ${unlisted}. Its history has ` +
    'a gap; use a node with the complete history';
  return [...notes, { level: 'fail', message }];
}

async function examinePool(pool: AddressPool, since: Date): Promise<ChainFinding> {
  const free = await pool.countFree(COUNT_MAX);
  const used = await countRecentlyAllocated(pool, since);
  const left = free < COUNT_MAX ? free : `${free} or more`;
  const message = `free addresses: ${left}; assigned in the last ${RECENT_DAYS} days: ${used}`;
  if (free >= Math.min(COUNT_MAX, Math.max(LIMITS.addressPoolWarning, used)))
    return { level: 'note', message };
  return {
    level: 'warn',
    message: `${message}. Create more offline and import them with skerryd chain import SOL`,
  };
}

/** Older addresses are scanned in rotation: a payment to one is only found if the node still has it. */
async function examineLedgerAge(node: SolanaNode): Promise<ChainFinding> {
  const { slot } = await node.latestFinalized();
  const [now, oldest] = [await node.blockTime(slot), await node.blockTime(await node.oldestSlot())];
  if (now === null || oldest === null)
    return { level: 'note', message: 'the node does not report how much history it has' };
  const days = (now - oldest) / (DAY_MS / 1000);
  const message = `the node has ${days.toFixed(1)} days of history`;
  if (days >= RECENT_DAYS) return { level: 'ok', message };
  const risk = 'late payments, and payments during a longer outage, may never be found';
  const fix = `keep at least ${RECENT_DAYS} days (--limit-ledger-size)`;
  return { level: 'warn', message: `${message}: ${risk}; ${fix}` };
}

async function countRecentlyAllocated(pool: AddressPool, since: Date): Promise<number> {
  let count = 0;
  for await (const page of watchedPages(pool)) {
    const recent = page.filter(({ takenAt }) => takenAt >= since).length;
    count += recent;
    if (recent < page.length) break;
  }
  return count;
}

/**
 * Counts addresses with a balance but no listed transactions. A node that was down restarts from a newer
 * snapshot and never lists what came in between: such payments show only in the balance. A node with the
 * complete history lists them, and then they are found.
 */
async function countUnlisted(node: SolanaNode, pool: AddressPool): Promise<number> {
  const unread = formatMark(UNREAD_MARK);
  let count = 0;
  let checked = 0;
  for await (const page of watchedPages(pool)) {
    const unpaid = page.filter(({ mark }) => mark === unread).map(({ address }) => address);
    const funded = await node.filterFunded(unpaid);
    const queries = funded.map((address) => ({ address, before: null, until: null, limit: 1 }));
    count += (await node.listTransactions(queries)).filter((list) => list.length === 0).length;
    checked += PAGE_SIZE;
    if (checked >= SCANNED_ADDRESSES_MAX) break;
  }
  return count;
}

/** Reads the assigned addresses page by page, newest first. */
async function* watchedPages(pool: AddressPool): AsyncGenerator<readonly WatchedAddress[]> {
  for (let after: string | null = null; ; ) {
    const page: readonly WatchedAddress[] = await pool.listWatched({ after, limit: PAGE_SIZE });
    yield page;
    after = page.at(-1)?.address ?? null;
    if (after === null) return;
  }
}
