/** What whoever runs the service should know of these coins. */
import type { ChainNote } from '../../../ports/chain.ts';
import { NodeError } from '../node-http.ts';
import { type Tracing, traced } from './ether.ts';
import { changedBy, isTooLong } from './large-block.ts';
import type { EvmNode, Head } from './node.ts';
import { type EvmCoin, newestOf } from './source.ts';

/** A day of blocks, twelve seconds each. */
const DAY_BLOCKS = 7_200;
const WALLET_GAP = 20;

export async function notesOf(
  node: EvmNode,
  of: { readonly coin: EvmCoin; readonly highest: number | null; readonly tracing: Tracing },
): Promise<readonly ChainNote[]> {
  if (of.coin === 'USDT') return [...addressNotes(of), GAS];
  const { height, txids } = await newestOf(node);
  const changes = await changesNotes(node, of.tracing, txids[0]);
  return [...addressNotes(of), await tracingNote(node, of.tracing, height), ...changes];
}

/** Whoever sends USDT from an address pays the network in ether from the same address. */
const GAS: ChainNote = {
  level: 'note',
  says: 'addresses of USDT hold no ether: to collect from one, send some ether there first, for the fee',
};

function addressNotes({ coin, highest }: { coin: EvmCoin; highest: number | null }): ChainNote[] {
  if (highest === null) return [];
  const which = coin === 'ETH' ? 'even' : 'odd';
  const says = `addresses have ${which} numbers of the account, up to ${highest} by now (…/0/${highest}); many are never paid, and a wallet that looks ${WALLET_GAP} ahead does not find them all: add them by number`;
  return [{ level: 'note', says }];
}

/** Of any transaction; where there is none now, nothing is known of it. */
async function changesNotes(
  node: EvmNode,
  tracing: Tracing,
  txid: string | undefined,
): Promise<readonly ChainNote[]> {
  if (txid === undefined || tracing === 'none') return [];
  try {
    await changedBy(node, tracing, txid);
    return [];
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    const says = `the node does not tell what a transaction changed, by trace_replayTransaction or prestateTracer: of one that somebody made too long to be traced, payments by contracts are not seen. The log of the workers names each`;
    return [{ level: 'note', says }];
  }
}

async function tracingNote(node: EvmNode, tracing: Tracing, height: number): Promise<ChainNote> {
  const head = await node.head(Math.max(0, height - DAY_BLOCKS));
  if (head === null || head.height === 0 || (await traces(node, tracing, head))) {
    return { level: 'ok', says: 'the node can trace blocks of a day ago' };
  }
  return {
    level: 'look',
    says: 'the node can trace only its newest blocks: payments of a longer outage could not be read. Use a node that keeps a day of history at least',
  };
}

async function traces(node: EvmNode, tracing: Tracing, head: Head): Promise<boolean> {
  try {
    await traced(node, tracing, head);
    return true;
  } catch (error) {
    // It can, and somebody made it long.
    if (isTooLong(error)) return true;
    if (error instanceof NodeError) return false;
    throw error;
  }
}
