/** Findings about Ethereum coins, for the operator. */
import type { ChainFinding } from '../../../ports/chain.ts';
import { NodeError, nullForNodeError } from '../node-http.ts';
import type { EvmBlockHead, EvmNode } from './node.ts';
import type { EvmCoin } from './source.ts';
import { isTooLarge, type TraceApi } from './trace-apis.ts';

/** One block every 12 seconds. */
const BLOCKS_PER_DAY = 7_200;
const WALLET_GAP = 20;

export async function examineEvm(
  node: EvmNode,
  examined: { readonly coin: EvmCoin; readonly highest: number | null; readonly api: TraceApi | null },
): Promise<readonly ChainFinding[]> {
  if (examined.coin === 'USDT') return [...addressNotes(examined), COLLECT_FEE_NOTE];
  const { height, txids } = await node.newest();
  const changes = await balanceNotes(node, examined.api, txids[0]);
  return [...addressNotes(examined), await tracingNote(node, examined.api, height), ...changes];
}

/** A USDT transfer's fee is paid in ether from the same address. */
const COLLECT_FEE_NOTE: ChainFinding = {
  level: 'note',
  message: 'USDT addresses hold no ether: before you collect from one, send it some ether for the fee',
};

function addressNotes({ coin, highest }: { coin: EvmCoin; highest: number | null }): ChainFinding[] {
  if (highest === null) return [];
  const parity = coin === 'ETH' ? 'even' : 'odd';
  const message =
    `${coin} addresses have ${parity} indexes of the account, currently up to ${highest} (…/0/${highest}). ` +
    `Many stay unpaid, so a wallet with a gap limit of ${WALLET_GAP} misses some: add them by index`;
  return [{ level: 'note', message }];
}

/** Tests the method with any transaction; without one, there is nothing to report. */
async function balanceNotes(
  node: EvmNode,
  api: TraceApi | null,
  txid: string | undefined,
): Promise<readonly ChainFinding[]> {
  if (txid === undefined || api === null) return [];
  if ((await api.readIncreases(node, txid).catch(nullForNodeError())) !== null) return [];
  const message =
    'the node supports neither trace_replayTransaction nor prestateTracer: if someone makes a ' +
    'transaction too long to trace, its payments by contracts are missed. ' +
    'The worker log names each such transaction';
  return [{ level: 'note', message }];
}

async function tracingNote(node: EvmNode, api: TraceApi | null, height: number): Promise<ChainFinding> {
  const head = await node.head(Math.max(0, height - BLOCKS_PER_DAY));
  if (head === null || head.height === 0 || (await canTrace(node, api, head))) {
    return { level: 'ok', message: 'the node can trace blocks that are one day old' };
  }
  return {
    level: 'warn',
    message:
      'the node can only trace its newest blocks, so payments during a longer outage could not be read. ' +
      'Use a node that keeps at least one day of history',
  };
}

async function canTrace(node: EvmNode, api: TraceApi | null, head: EvmBlockHead): Promise<boolean> {
  if (api === null) throw new Error('the node cannot trace');
  try {
    await api.readBlock(node, head);
    return true;
  } catch (error) {
    // It can trace, but this block's trace is too large.
    if (isTooLarge(error)) return true;
    if (error instanceof NodeError) return false;
    throw error;
  }
}
