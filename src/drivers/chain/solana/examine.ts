/** What whoever runs the service should know of Solana: what is left of the pool, and whether the node knows its history. */
import { DAY_MS } from '../../../kernel/time.ts';
import type { AddressPool, ChainFinding } from '../../../ports/chain.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { formatMark, UNREAD_MARK } from './mark.ts';
import type { SolanaNode } from './node.ts';

export const RECENT_DAYS = 7;
/** Nobody asks by how much there are more. */
const COUNT_MAX = 10_000;
const PAGE_SIZE = 100;
/** The newest ones that were given out. */
const SCANNED_ADDRESSES_MAX = 5_000;

/** `since`: so many days ago. */
export async function examineSolana(
  node: SolanaNode,
  pool: AddressPool,
  since: Date,
): Promise<readonly ChainFinding[]> {
  const notes = [await examinePool(pool, since), await examineLedgerAge(node)];
  const unlisted = await countUnlisted(node, pool);
  if (unlisted === 0) return notes;
  const message = `addresses with money that the node lists no transaction of: ${unlisted}. Its history has a gap: use one that has all`;
  return [...notes, { level: 'fail', message }];
}

async function examinePool(pool: AddressPool, since: Date): Promise<ChainFinding> {
  const free = await pool.countFree(COUNT_MAX);
  const used = await countRecentlyAllocated(pool, since);
  const left = free < COUNT_MAX ? free : `${free} or more`;
  const message = `addresses left: ${left}; given out in the last ${RECENT_DAYS} days: ${used}`;
  if (free >= Math.min(COUNT_MAX, Math.max(LIMITS.addressPoolWarning, used)))
    return { level: 'note', message };
  return {
    level: 'warn',
    message: `${message}. Make more offline and import them: skerryd chain import SOL`,
  };
}

/** Addresses of more than some days ago are looked at in turns: what was paid there is listed only if the node still has it. */
async function examineLedgerAge(node: SolanaNode): Promise<ChainFinding> {
  const { slot } = await node.latestFinalized();
  const [now, oldest] = [await node.blockTime(slot), await node.blockTime(await node.oldestSlot())];
  if (now === null || oldest === null)
    return { level: 'note', message: 'the node does not tell how far back its ledger reaches' };
  const days = (now - oldest) / (DAY_MS / 1000);
  const message = `the node’s ledger reaches ${days.toFixed(1)} days back`;
  if (days >= RECENT_DAYS) return { level: 'ok', message };
  const missed = 'what is paid late, or while this service is away for longer, may never be found';
  const keep = `let it keep ${RECENT_DAYS} days or more (--limit-ledger-size)`;
  return { level: 'warn', message: `${message}: ${missed}; ${keep}` };
}

async function countRecentlyAllocated(pool: AddressPool, since: Date): Promise<number> {
  let count = 0;
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<AddressPool['listWatched']>> = await pool.listWatched({
      after,
      limit: PAGE_SIZE,
    });
    const recent = page.filter(({ takenAt }) => takenAt >= since);
    count += recent.length;
    after = page.at(-1)?.address ?? null;
    if (after === null || recent.length < page.length) return count;
  }
}

/**
 * How many addresses have money that nobody told of. A node that was away begins again at a newer state of the chain and never lists
 * what came in between: such payments show only by the balance of an address that has no transactions. A node with the whole
 * history lists them, and then they are found.
 */
async function countUnlisted(node: SolanaNode, pool: AddressPool): Promise<number> {
  const blank = formatMark(UNREAD_MARK);
  let count = 0;
  let after: string | null = null;
  for (let looked = 0; looked < SCANNED_ADDRESSES_MAX; looked += PAGE_SIZE) {
    const page: Awaited<ReturnType<AddressPool['listWatched']>> = await pool.listWatched({
      after,
      limit: PAGE_SIZE,
    });
    const silent = page.filter(({ mark }) => mark === blank).map(({ address }) => address);
    const funded = await node.filterFunded(silent);
    const orders = funded.map((address) => ({ address, before: null, until: null, limit: 1 }));
    count += (await node.listTransactions(orders)).filter((list) => list.length === 0).length;
    after = page.at(-1)?.address ?? null;
    if (after === null) break;
  }
  return count;
}
