/** A second Ethereum node: confirms payments that the first node has in a block. */
import type { ChainFinding, ChainHealth, Observation } from '../../../ports/chain.ts';
import type { BlockHead } from '../block-walk.ts';
import type { SecondNode } from '../cross-checked.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { SafetyCheck } from '../safety-check.ts';
import { BalanceIncreases } from './balance-increases.ts';
import { detectTracing, type Tracing } from './ether.ts';
import { EvmNode } from './node.ts';
import { checkNetwork, evmHealth, type Network, requireToken } from './safety.ts';
import { type EvmCoin, EvmSource, latestHead } from './source.ts';

/** The minimum history of a node without an archive (geth). */
const MIN_HISTORY_BLOCKS = 128;

export interface EvmSecondNodeOptions {
  readonly coin: EvmCoin;
  readonly node: NodeEndpoint;
  /** Address of the USDT contract. */
  readonly contract: string;
  readonly allowTest: boolean;
}

export class EvmSecondNode implements SecondNode {
  readonly #coin: EvmCoin;
  readonly #node: EvmNode;
  readonly #contract: string;
  readonly #allowTest: boolean;
  readonly #source: EvmSource;
  readonly #balanceIncreases: BalanceIncreases;
  readonly #safetyCheck = new SafetyCheck(() => this.#checkNode());
  #network: Network | undefined;
  #tracing: Tracing = 'none';

  constructor({ coin, node, contract, allowTest }: EvmSecondNodeOptions) {
    this.#coin = coin;
    this.#node = new EvmNode(node);
    this.#balanceIncreases = new BalanceIncreases(this.#node);
    this.#contract = contract;
    this.#allowTest = allowTest;
    this.#source = new EvmSource(
      this.#node,
      coin === 'ETH' ? { coin, tracing: () => this.#tracing } : { coin, contract: contract.toLowerCase() },
    );
  }

  async checkSafety(): Promise<void> {
    await this.#safetyCheck.rerun();
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    await this.#safetyCheck.ensure();
    const newest = await latestHead(this.#node);
    const txids = [...new Set(observations.map(({ txid }) => txid))];
    const found = await this.#source.transactions(txids, { ...newest, finalHeight: 0 });
    const confirmed = new Map<string, number>();
    const untraced: { readonly observation: Observation; readonly head: BlockHead }[] = [];
    const confirmationsAt = (head: BlockHead) => Math.max(newest.height, head.height) - head.height + 1;
    for (const observation of observations) {
      const { head, transfers, isPartial } = found.get(observation.txid) ?? {};
      if (head === undefined || head.hash !== observation.blockHash) continue;
      if (transfers?.some(({ key }) => key === observation.key)) {
        confirmed.set(observation.key, confirmationsAt(head));
        this.#balanceIncreases.record(observation, head);
      } else if (isPartial) {
        untraced.push({ observation, head });
      }
    }
    // This node can't trace the block, but the transaction succeeded there: the balance increase is the
    // evidence. If that history is gone too, don't agree; otherwise a first node that lies would be believed.
    for (const { observation, head } of untraced) {
      if (await this.#balanceIncreases.covers(observation, head))
        confirmed.set(observation.key, confirmationsAt(head));
    }
    return confirmed;
  }

  async examine(): Promise<readonly ChainFinding[]> {
    await this.#safetyCheck.ensure();
    if (this.#coin !== 'ETH' || this.#tracing !== 'none') return [];
    return [
      {
        level: 'note',
        message:
          'the second node cannot trace: it checks payments made by contracts by balances, ' +
          `and only in its newest ${MIN_HISTORY_BLOCKS} blocks. ` +
          'Older ones would not be confirmed; enable its trace or debug API',
      },
    ];
  }

  async health(): Promise<ChainHealth> {
    await this.#safetyCheck.ensure();
    if (!this.#network) throw new Error('the node has not passed its safety check');
    return await evmHealth(this.#node, this.#network);
  }

  async #checkNode(): Promise<void> {
    const network = await checkNetwork(this.#node, this.#allowTest);
    this.#network = network;
    if (this.#coin === 'USDT') await requireToken(this.#node, this.#contract, network);
    else this.#tracing = await detectTracing(this.#node, await latestHead(this.#node));
  }
}
