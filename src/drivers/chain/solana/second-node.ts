/** A second Solana node: confirms that it has the same finalized payments in the same blocks. */
import type { ChainHealth, Observation } from '../../../ports/chain.ts';
import type { SecondNode } from '../cross-checked.ts';
import { type NodeEndpoint, NodeError } from '../node-http.ts';
import { SolanaNode } from './node.ts';
import { parsePayment } from './payments.ts';
import { checkSolanaNode, solanaHealth } from './safety.ts';

export class SolanaSecondNode implements SecondNode {
  readonly #node: SolanaNode;
  readonly #allowTest: boolean;

  constructor({ node, allowTest }: { readonly node: NodeEndpoint; readonly allowTest: boolean }) {
    this.#node = new SolanaNode(node);
    this.#allowTest = allowTest;
  }

  async checkSafety(): Promise<void> {
    await checkSolanaNode(this.#node, this.#allowTest);
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    const answers = await this.#node.transactions(
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
  }

  async health(): Promise<ChainHealth> {
    return await solanaHealth(this.#node);
  }
}
