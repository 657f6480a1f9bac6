/**
 * A second monerod. It can't see receivers or amounts: it confirms that the transaction is in the same block.
 * The first wallet has verified the amount against that transaction's commitments.
 */
import type { ChainHealth, Observation } from '../../../ports/chain.ts';
import type { SecondNode } from '../cross-checked.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { MoneroDaemon } from './daemon.ts';
import { checkNetwork, moneroHealth } from './safety.ts';

export class MoneroSecondNode implements SecondNode {
  readonly #daemon: MoneroDaemon;
  readonly #allowTest: boolean;

  constructor(options: { readonly daemon: NodeEndpoint; readonly allowTest: boolean }) {
    this.#daemon = new MoneroDaemon(options.daemon);
    this.#allowTest = options.allowTest;
  }

  async checkSafety(): Promise<void> {
    await checkNetwork(this.#daemon, this.#allowTest);
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    const tip = await this.#daemon.tip();
    const inReach = observations.filter(({ height }) => height !== null && height <= tip.height);
    const places = await this.#daemon.locateTransactions(inReach.map(({ txid }) => txid));
    const blocks = await this.#daemon.blocks(inReach.flatMap(({ height }) => height ?? []));
    const confirmed = new Map<string, number>();
    for (const { key, txid, height, blockHash } of inReach) {
      if (height === null || places.get(txid)?.height !== height) continue;
      if (blocks.get(height)?.hash === blockHash) confirmed.set(key, tip.height - height + 1);
    }
    return confirmed;
  }

  async health(): Promise<ChainHealth> {
    return await moneroHealth(this.#daemon, null);
  }
}
