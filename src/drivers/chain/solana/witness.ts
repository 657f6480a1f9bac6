/** A second node of Solana: whether it has the same payments in the same slots, final there as well. */
import type { ChainHealth, Observation } from '../../../ports/chain.ts';
import { type NodeAddress, NodeError } from '../node-http.ts';
import { Proof } from '../proven.ts';
import type { Witness } from '../witnessed.ts';
import { paymentOf } from './credit.ts';
import { SolanaNode } from './node.ts';
import { proveSolana, solanaHealth } from './proof.ts';

export class SolanaWitness implements Witness {
  readonly #node: SolanaNode;
  readonly #proof: Proof;

  constructor({ node, allowTest }: { readonly node: NodeAddress; readonly allowTest: boolean }) {
    this.#node = new SolanaNode(node);
    this.#proof = new Proof(() => proveSolana(this.#node, allowTest));
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    await this.#proof.ensure();
    const answers = await this.#node.transactions(
      observations.map(({ txid }) => txid),
      'finalized',
    );
    const confirmed = new Map<string, number>();
    for (const [i, { key, txid, address, amountUnits, blockHash }] of observations.entries()) {
      const answer = answers[i] ?? null;
      if (answer === null || answer instanceof NodeError) continue;
      const payment = paymentOf(answer, { signature: txid, address, final: true });
      const isSame = payment?.blockHash === blockHash && payment.amountUnits === amountUnits;
      if (payment !== null && isSame) confirmed.set(key, payment.confirmations);
    }
    return confirmed;
  }

  async health(): Promise<ChainHealth> {
    return await solanaHealth(this.#node);
  }
}
