/** What whoever runs the service should know of these coins. */
import type { ChainFinding } from '../../../ports/chain.ts';
import { NodeError } from '../node-http.ts';
import { type Tracing, traceBlock } from './ether.ts';
import { isTooLarge, movementsFromChanges } from './large-block.ts';
import type { EvmBlockHead, EvmNode } from './node.ts';
import { type EvmCoin, latestHead } from './source.ts';

/** A day of blocks, twelve seconds each. */
const BLOCKS_PER_DAY = 7_200;
const WALLET_GAP = 20;

export async function examineEvm(
  node: EvmNode,
  of: { readonly coin: EvmCoin; readonly highest: number | null; readonly tracing: Tracing },
): Promise<readonly ChainFinding[]> {
  if (of.coin === 'USDT') return [...addressNotes(of), COLLECT_FEE_NOTE];
  const { height, txids } = await latestHead(node);
  const changes = await stateDiffNotes(node, of.tracing, txids[0]);
  return [...addressNotes(of), await tracingNote(node, of.tracing, height), ...changes];
}

/** Whoever sends USDT from an address pays the network in ether from the same address. */
const COLLECT_FEE_NOTE: ChainFinding = {
  level: 'note',
  message: 'addresses of USDT hold no ether: to collect from one, send some ether there first, for the fee',
};

function addressNotes({ coin, highest }: { coin: EvmCoin; highest: number | null }): ChainFinding[] {
  if (highest === null) return [];
  const which = coin === 'ETH' ? 'even' : 'odd';
  const message = `addresses have ${which} numbers of the account, up to ${highest} by now (…/0/${highest}); many are never paid, and a wallet that looks ${WALLET_GAP} ahead does not find them all: add them by number`;
  return [{ level: 'note', message }];
}

/** Of any transaction; where there is none now, nothing is known of it. */
async function stateDiffNotes(
  node: EvmNode,
  tracing: Tracing,
  txid: string | undefined,
): Promise<readonly ChainFinding[]> {
  if (txid === undefined || tracing === 'none') return [];
  try {
    await movementsFromChanges(node, tracing, txid);
    return [];
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    const message = `the node does not tell what a transaction changed, by trace_replayTransaction or prestateTracer: of one that somebody made too long to be traced, payments by contracts are not seen. The log of the workers names each`;
    return [{ level: 'note', message }];
  }
}

async function tracingNote(node: EvmNode, tracing: Tracing, height: number): Promise<ChainFinding> {
  const head = await node.head(Math.max(0, height - BLOCKS_PER_DAY));
  if (head === null || head.height === 0 || (await canTrace(node, tracing, head))) {
    return { level: 'ok', message: 'the node can trace blocks of a day ago' };
  }
  return {
    level: 'warn',
    message:
      'the node can trace only its newest blocks: payments of a longer outage could not be read. Use a node that keeps a day of history at least',
  };
}

async function canTrace(node: EvmNode, tracing: Tracing, head: EvmBlockHead): Promise<boolean> {
  try {
    await traceBlock(node, tracing, head);
    return true;
  } catch (error) {
    // It can, and somebody made it long.
    if (isTooLarge(error)) return true;
    if (error instanceof NodeError) return false;
    throw error;
  }
}
