/** What must be true of a node of Solana before anything is asked of it. */
import { MINUTE_MS } from '../../../kernel/time.ts';
import { type ChainHealth, UnsafeChainError } from '../../../ports/chain.ts';
import type { SolanaNode } from './node.ts';

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
/** Two or three blocks come in a second. */
const TIP_MAX_AGE_MS = 5 * MINUTE_MS;
/** The system's own address, of which every node that keeps lists at all has some. */
const ANY_ADDRESS = '11111111111111111111111111111111';

/** Throws UnsafeChain, or whatever the asking throws: a node that keeps no lists of transactions is of no use. */
export async function checkSolanaNode(node: SolanaNode, allowTest: boolean): Promise<void> {
  if ((await node.genesisHash()) !== MAINNET_GENESIS && !allowTest) {
    throw new UnsafeChainError('the node is on a test network of Solana, or on another chain');
  }
  await node.listTransactions([{ address: ANY_ADDRESS, before: null, until: null, limit: 1 }]);
}

export async function solanaHealth(node: SolanaNode): Promise<ChainHealth> {
  const [{ slot }, problem] = await Promise.all([node.latestFinalized(), node.healthProblem()]);
  const seconds = await node.blockTime(slot);
  const tipAt = seconds === null ? null : new Date(seconds * 1000);
  const isOld = tipAt !== null && Date.now() - tipAt.getTime() > TIP_MAX_AGE_MS;
  const detail = problem ?? (isOld ? 'its newest final block is more than five minutes old' : 'in time');
  return { ok: problem === null && !isOld, height: slot, tipAt, detail };
}
