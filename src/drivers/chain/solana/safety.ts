/** Safety and health checks of a Solana node. */
import { MINUTE_MS } from '../../../kernel/time.ts';
import { type ChainHealth, UnsafeChainError } from '../../../ports/chain.ts';
import type { SolanaNode } from './node.ts';

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
/** Solana has two or three blocks per second. */
const TIP_MAX_AGE_MS = 5 * MINUTE_MS;
/** The system program's address: every node that indexes transactions by address has some for it. */
const ANY_ADDRESS = '11111111111111111111111111111111';

/** Throws UnsafeChainError, or the error of the test query: a node without an address index can't be used. */
export async function checkSolanaNode(node: SolanaNode, allowTest: boolean): Promise<void> {
  if ((await node.genesisHash()) !== MAINNET_GENESIS && !allowTest) {
    throw new UnsafeChainError('the node is not on Solana’s main network; use a mainnet node');
  }
  await node.listTransactions([{ address: ANY_ADDRESS, before: null, until: null, limit: 1 }]);
}

export async function solanaHealth(node: SolanaNode): Promise<ChainHealth> {
  const [{ slot }, problem] = await Promise.all([node.latestFinalized(), node.healthProblem()]);
  const seconds = await node.blockTime(slot);
  const tipAt = seconds === null ? null : new Date(seconds * 1000);
  const isOld = tipAt !== null && Date.now() - tipAt.getTime() > TIP_MAX_AGE_MS;
  const detail = problem ?? (isOld ? 'the newest final block is more than 5 minutes old' : 'in sync');
  return { ok: problem === null && !isOld, height: slot, tipAt, detail };
}
