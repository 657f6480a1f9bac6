/**
 * A second monerod. It can't see receivers or amounts: it confirms that the transaction is in the same block.
 * The first wallet has verified the amount against that transaction's commitments.
 */
import type { SecondNode } from '../cross-checked.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { MoneroDaemon } from './daemon.ts';
import { checkNetwork, moneroHealth } from './safety.ts';

export function moneroSecondNode(options: {
  readonly daemon: NodeEndpoint;
  readonly allowTest: boolean;
}): SecondNode {
  const daemon = new MoneroDaemon(options.daemon);
  return {
    checkSafety: async () => void (await checkNetwork(daemon, options.allowTest)),
    confirm: async (observations) => {
      const tip = await daemon.tip();
      const inReach = observations.filter(({ height }) => height !== null && height <= tip.height);
      const places = await daemon.locateTransactions(inReach.map(({ txid }) => txid));
      const blocks = await daemon.blocks(inReach.flatMap(({ height }) => height ?? []));
      const confirmed = new Map<string, number>();
      for (const { key, txid, height, blockHash } of inReach) {
        if (height === null || places.get(txid)?.height !== height) continue;
        if (blocks.get(height)?.hash === blockHash) confirmed.set(key, tip.height - height + 1);
      }
      return confirmed;
    },
    health: () => moneroHealth(daemon, null),
  };
}
