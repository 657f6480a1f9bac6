/**
 * What addresses got in a block, by their balance before and after: for a node that cannot trace. It says how much came, and not by
 * which transaction; so what was shown once counts, and nobody's payment is proven by another's.
 */
import type { Observation } from '../../../ports/chain.ts';
import type { BlockHead } from '../block-walk.ts';
import { NodeError } from '../node-http.ts';
import type { EvmNode } from './node.ts';

/** Addresses in blocks of which it is kept what was shown there. */
const CACHE_MAX = 10_000;

export class BalanceIncreases {
  readonly #node: EvmNode;
  readonly #known = new Map<string, Map<string, bigint>>();

  constructor(node: EvmNode) {
    this.#node = node;
  }

  /** This payment is known to be in this block. */
  record({ key, address, amountUnits }: Observation, head: BlockHead): void {
    this.#knownAt(address, head).set(key, amountUnits);
  }

  /** Whether the address got as much in this block, beside what was shown there before. False where the node cannot say. */
  async covers(observation: Observation, head: BlockHead): Promise<boolean> {
    const { key, address, amountUnits } = observation;
    const shown = this.#knownAt(address, head);
    if (shown.get(key) === amountUnits) return true;
    const rise = await this.#increase(address, head);
    const others = [...shown.values()].reduce((sum, units) => sum + units, 0n);
    if (rise === null || rise < others + amountUnits) return false;
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
    const shown = this.#known.get(name) ?? new Map<string, bigint>();
    this.#known.set(name, shown);
    const [oldest] = this.#known.keys();
    if (this.#known.size > CACHE_MAX && oldest !== undefined) this.#known.delete(oldest);
    return shown;
  }
}
