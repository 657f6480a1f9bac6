/**
 * Confirms payments by an address's balance before and after a block, for a node that can't trace. A balance
 * doesn't say which transaction paid, so every confirmed payment uses up its share of the increase: no
 * payment counts as proof of another.
 */
import type { Observation } from '../../../ports/chain.ts';
import type { BlockHead } from '../block-walk.ts';
import { NodeError } from '../node-http.ts';
import type { EvmNode } from './node.ts';

/** Maximum (block, address) pairs whose confirmed payments are cached. */
const CACHE_MAX = 10_000;

export class BalanceIncreases {
  readonly #node: EvmNode;
  readonly #known = new Map<string, Map<string, bigint>>();

  constructor(node: EvmNode) {
    this.#node = node;
  }

  /** Records a payment that is confirmed in this block. */
  record({ key, address, amountUnits }: Observation, head: BlockHead): void {
    this.#knownAt(address, head).set(key, amountUnits);
  }

  /**
   * Whether the address received this amount in the block in addition to the recorded payments. False if
   * unknown.
   */
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
    try {
      const before = await this.#node.balance(address, head.parentHash);
      return (await this.#node.balance(address, head.hash)) - before;
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  #knownAt(address: string, { hash }: BlockHead): Map<string, bigint> {
    const name = `${hash} ${address}`;
    const recorded = this.#known.get(name) ?? new Map<string, bigint>();
    this.#known.set(name, recorded);
    const [oldest] = this.#known.keys();
    if (this.#known.size > CACHE_MAX && oldest !== undefined) this.#known.delete(oldest);
    return recorded;
  }
}
