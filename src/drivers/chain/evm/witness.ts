/** A second node of Ethereum: what it says of payments that the first one has in a block. */
import type { ChainHealth, ChainNote, Observation } from '../../../ports/chain.ts';
import type { BlockHead } from '../block-walk.ts';
import type { NodeAddress } from '../node-http.ts';
import { Proof } from '../proven.ts';
import type { Witness } from '../witnessed.ts';
import { type Tracing, tracingOf } from './ether.ts';
import { healthOf, type Network, networkOf, requireToken } from './network.ts';
import { EvmNode } from './node.ts';
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
    // What this node cannot trace, though its transaction succeeded in the same block: what the address got there says enough. A node
    // that no longer has that either agrees to nothing, or whatever a lying first one says would be credited.
    for (const { observation, head } of untold) {
      if (await this.#rises.prove(observation, head)) confirmed.set(observation.key, deep(head));
    }
    return confirmed;
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
    const network = await networkOf(this.#node, this.#allowTest);
    this.#network = network;
    if (this.#coin === 'USDT') await requireToken(this.#node, this.#contract, network);
    else this.#tracing = await tracingOf(this.#node, await newestOf(this.#node));
  }
}
