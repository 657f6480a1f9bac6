/** A second Tron node: confirms that it has the same payments in the same blocks. */
import type { ChainHealth, Observation } from '../../../ports/chain.ts';
import type { SecondNode } from '../cross-checked.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { TronNode } from './node.ts';
import { checkTronNode, type TronNetworkOptions, tronHealth } from './safety.ts';
import { TronSource } from './source.ts';

export class TronSecondNode implements SecondNode {
  readonly #node: TronNode;
  readonly #source: TronSource;
  readonly #options: TronNetworkOptions;

  constructor(options: TronNetworkOptions & { readonly node: NodeEndpoint }) {
    this.#node = new TronNode(options.node);
    this.#source = new TronSource(this.#node, options.coin, options.contract);
    this.#options = options;
  }

  async checkSafety(): Promise<void> {
    await checkTronNode(this.#node, this.#options);
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    const { height } = await this.#node.latestBlock();
    const found = await this.#source.transactions([...new Set(observations.map(({ txid }) => txid))]);
    const confirmed = observations.flatMap(({ key, txid, blockHash }) => {
      const { head, transfers = [] } = found.get(txid) ?? {};
      // The key includes address and amount.
      const has = head?.hash === blockHash && transfers.some((transfer) => transfer.key === key);
      return head && has ? [[key, Math.max(1, height - head.height + 1)] as const] : [];
    });
    return new Map(confirmed);
  }

  async health(): Promise<ChainHealth> {
    return await tronHealth(this.#node, this.#options.allowTest);
  }
}
