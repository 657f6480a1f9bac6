/** A second node of Tron: whether it has the same payments in the same blocks. */
import type { ChainHealth, Observation } from '../../../ports/chain.ts';
import type { NodeAddress } from '../node-http.ts';
import { Proof } from '../proven.ts';
import type { Witness } from '../witnessed.ts';
import { tronHealth } from './health.ts';
import { TronNode } from './node.ts';
import { proveTron, type TronTerms } from './proof.ts';
import { TronSource } from './source.ts';

export class TronWitness implements Witness {
  readonly #node: TronNode;
  readonly #source: TronSource;
  readonly #proof: Proof;
  readonly #allowTest: boolean;

  constructor(options: TronTerms & { readonly node: NodeAddress }) {
    this.#node = new TronNode(options.node);
    this.#source = new TronSource(this.#node, options.coin, options.contract);
    this.#proof = new Proof(() => proveTron(this.#node, options));
    this.#allowTest = options.allowTest;
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    await this.#proof.ensure();
    const { height } = await this.#node.newest();
    const found = await this.#source.transactions([...new Set(observations.map(({ txid }) => txid))]);
    const confirmed = observations.flatMap(({ key, txid, blockHash }) => {
      const { head, transfers = [] } = found.get(txid) ?? {};
      // The key holds address and amount.
      const has = head?.hash === blockHash && transfers.some((transfer) => transfer.key === key);
      return head && has ? [[key, Math.max(1, height - head.height + 1)] as const] : [];
    });
    return new Map(confirmed);
  }

  async health(): Promise<ChainHealth> {
    return await tronHealth(this.#node, this.#allowTest);
  }
}
