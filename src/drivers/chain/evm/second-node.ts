/** A second Ethereum node: confirms payments that the first node has in a block. */
import { BoundedMap } from '../../../kernel/bounded-map.ts';
import type { ChainFinding, ChainHealth, Observation } from '../../../ports/chain.ts';
import type { BlockHead } from '../block-walk.ts';
import type { SecondNode } from '../cross-checked.ts';
import { type NodeEndpoint, nullForNodeError } from '../node-http.ts';
import { EtherReader } from './ether-reader.ts';
import { EvmNode } from './node.ts';
import { checkNetwork, evmHealth, type Network, requireToken } from './safety.ts';
import { type EvmCoin, EvmSource } from './source.ts';
import { tokenReader } from './token-reader.ts';

/** Maximum (block, address) pairs whose confirmed payments are cached. */
const CACHE_MAX = 10_000;
/** The minimum history of a node without an archive (geth). */
const MIN_HISTORY_BLOCKS = 128;

export interface EvmSecondNodeOptions {
  readonly coin: EvmCoin;
  readonly node: NodeEndpoint;
  /** Address of the USDT contract. */
  readonly contract: string;
  /** Whether test networks are allowed. */
  readonly allowTest: boolean;
}

export class EvmSecondNode implements SecondNode {
  readonly #options: EvmSecondNodeOptions;
  readonly #node: EvmNode;
  /** Null for the token. */
  readonly #ether: EtherReader | null;
  readonly #source: EvmSource;
  readonly #balanceIncreases: BalanceIncreases;
  #network: Network | undefined;

  constructor(options: EvmSecondNodeOptions) {
    const { coin, node, contract } = options;
    this.#options = options;
    this.#node = new EvmNode(node);
    this.#ether = coin === 'ETH' ? new EtherReader(this.#node) : null;
    this.#source = new EvmSource(this.#node, this.#ether ?? tokenReader(this.#node, contract));
    this.#balanceIncreases = new BalanceIncreases(this.#node);
  }

  async checkSafety(): Promise<void> {
    const network = await checkNetwork(this.#node, this.#options.allowTest);
    this.#network = network;
    if (this.#ether === null) await requireToken(this.#node, this.#options.contract, network);
    else await this.#ether.detectApi();
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    const newest = await this.#node.newest();
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
    if (this.#ether === null || this.#ether.api !== null) return [];
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
    if (!this.#network) throw new Error('the node has not passed its safety check');
    return await evmHealth(this.#node, this.#network);
  }
}

/**
 * Confirms payments by an address's balance before and after a block, for a node that can't trace. A balance
 * doesn't say which transaction paid, so every confirmed payment uses up its share of the increase: no
 * payment counts as proof of another.
 */
class BalanceIncreases {
  readonly #node: EvmNode;
  readonly #known = new BoundedMap<string, Map<string, bigint>>(CACHE_MAX);

  constructor(node: EvmNode) {
    this.#node = node;
  }

  /** Records a payment that is confirmed in this block. */
  record({ key, address, amountUnits }: Observation, head: BlockHead): void {
    this.#knownAt(address, head).set(key, amountUnits);
  }

  /** Whether the address received this in the block, beyond recorded payments. False if unknown. */
  async covers(observation: Observation, head: BlockHead): Promise<boolean> {
    const { key, address, amountUnits } = observation;
    const recorded = this.#knownAt(address, head);
    if (recorded.get(key) === amountUnits) return true;
    const increase = await this.#increase(address, head);
    const others = [...recorded.values()].reduce((sum, units) => sum + units, 0n);
    if (increase === null || increase < others + amountUnits) return false;
    this.record(observation, head);
    return true;
  }

  async #increase(address: string, head: BlockHead): Promise<bigint | null> {
    const before = await this.#node.balance(address, head.parentHash).catch(nullForNodeError());
    const after =
      before === null ? null : await this.#node.balance(address, head.hash).catch(nullForNodeError());
    return before === null || after === null ? null : after - before;
  }

  #knownAt(address: string, { hash }: BlockHead): Map<string, bigint> {
    return this.#known.ensure(`${hash} ${address}`, () => new Map());
  }
}
