/** A second Solana node: confirms that it has the same finalized payments in the same blocks. */
import type { SecondNode } from '../cross-checked.ts';
import { type NodeEndpoint, NodeError } from '../node-http.ts';
import { SolanaNode } from './node.ts';
import { parsePayment } from './payments.ts';
import { checkSolanaNode, solanaHealth } from './safety.ts';

export function solanaSecondNode(options: {
  readonly node: NodeEndpoint;
  readonly allowTest: boolean;
}): SecondNode {
  const node = new SolanaNode(options.node);
  return {
    checkSafety: () => checkSolanaNode(node, options.allowTest),
    confirm: async (observations) => {
      const answers = await node.transactions(
        observations.map(({ txid }) => txid),
        'finalized',
      );
      const confirmed = new Map<string, number>();
      for (const [i, { key, txid, address, amountUnits, blockHash }] of observations.entries()) {
        const answer = answers[i] ?? null;
        if (answer === null || answer instanceof NodeError) continue;
        const payment = parsePayment(answer, { signature: txid, address, final: true });
        const isSame = payment?.blockHash === blockHash && payment.amountUnits === amountUnits;
        if (payment !== null && isSame) confirmed.set(key, payment.confirmations);
      }
      return confirmed;
    },
    health: () => solanaHealth(node),
  };
}
