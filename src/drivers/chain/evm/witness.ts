/** A second node of Ethereum: what it says of payments that the first one has in a block. */
import type { ChainHealth, ChainNote, Observation } from '../../../ports/chain.ts';
import type { BlockHead } from '../block-walk.ts';
import { type NodeAddress, NodeError } from '../node-http.ts';
import { Proof } from '../proven.ts';
import type { Witness } from '../witnessed.ts';
import { type Tracing, traced, tracingOf } from './ether.ts';
import { isTooLong } from './large-block.ts';
import { healthOf, type Network, networkOf, requireToken } from './network.ts';
import { EvmNode, type Head } from './node.ts';
import { Rises } from './rises.ts';
import { type EvmCoin, EvmSource, newestOf } from './source.ts';

/** What a node that keeps no history has of it: geth, the one that keeps least. */
const HISTORY_LEAST_BLOCKS = 128;

export interface EvmWitnessOptions {
  readonly coin: EvmCoin;
  readonly node: NodeAddress;
  /** Of USDT. */
  readonly contract: string;
  readonly allowTest: boolean;
}

export class EvmWitness implements Witness {
  readonly #coin: EvmCoin;
  readonly #node: EvmNode;
  readonly #contract: string;
  readonly #allowTest: boolean;
  readonly #source: EvmSource;
  readonly #rises: Rises;
  readonly #proof = new Proof(() => this.#prove());
  #network: Network | undefined;
  #tracing: Tracing = 'none';

  constructor({ coin, node, contract, allowTest }: EvmWitnessOptions) {
    this.#coin = coin;
    this.#node = new EvmNode(node);
    this.#rises = new Rises(this.#node);
    this.#contract = contract;
    this.#allowTest = allowTest;
    this.#source = new EvmSource(
      this.#node,
      coin === 'ETH' ? { coin, tracing: () => this.#tracing } : { coin, contract: contract.toLowerCase() },
    );
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    await this.#proof.ensure();
    const newest = await newestOf(this.#node);
    const txids = [...new Set(observations.map(({ txid }) => txid))];
    const found = await this.#source.transactions(txids, { ...newest, finalHeight: 0 });
    const confirmed = new Map<string, number>();
    const untold: { readonly observation: Observation; readonly head: BlockHead }[] = [];
    const deep = (head: BlockHead) => Math.max(newest.height, head.height) - head.height + 1;
    for (const observation of observations) {
      const { head, transfers, isPartial } = found.get(observation.txid) ?? {};
      if (head === undefined || head.hash !== observation.blockHash) continue;
      if (transfers?.some(({ key }) => key === observation.key)) {
        confirmed.set(observation.key, deep(head));
        this.#rises.note(observation, head);
      } else if (isPartial) {
        untold.push({ observation, head });
      }
    }
    for (const { observation, head } of untold) {
      if (await this.#mayBe(observation, head, newest)) confirmed.set(observation.key, deep(head));
    }
    return confirmed;
  }

  /**
   * Of a payment that this node cannot trace, though its transaction succeeded in the same block. One that cannot trace at all is asked
   * what the address got in that block. One that does not trace this block, but its newest, is believed to have it where the block is
   * older than what any node keeps; else whatever a lying first node says would be agreed to by a tracer that is down.
   */
  async #mayBe(observation: Observation, head: BlockHead, newest: Head): Promise<boolean> {
    if (this.#tracing === 'none') return await this.#rises.prove(observation, head);
    return newest.height - head.height > HISTORY_LEAST_BLOCKS && (await this.#traces(newest));
  }

  async #traces(newest: Head): Promise<boolean> {
    try {
      await traced(this.#node, this.#tracing, newest);
      return true;
    } catch (error) {
      if (isTooLong(error)) return true;
      if (error instanceof NodeError) return false;
      throw error;
    }
  }

  async examine(): Promise<readonly ChainNote[]> {
    await this.#proof.ensure();
    if (this.#coin !== 'ETH' || this.#tracing !== 'none') return [];
    return [
      {
        level: 'note',
        says: `the second node cannot trace: what contracts pay it compares by balances, and only in its newest ${HISTORY_LEAST_BLOCKS} blocks. Older payments by contracts would not be agreed to; turn its trace or debug interface on`,
      },
    ];
  }

  async health(): Promise<ChainHealth> {
    await this.#proof.ensure();
    if (!this.#network) throw new Error('the node was not proven');
    return await healthOf(this.#node, this.#network);
  }

  async #prove(): Promise<void> {
    this.#network = await networkOf(this.#node, this.#allowTest);
    if (this.#coin === 'USDT') await requireToken(this.#node, this.#contract);
    else this.#tracing = await tracingOf(this.#node, await newestOf(this.#node));
  }
}
