/** A second node next to a scripted chain. It has the same data as the chain unless a test changes it. */
import type { SecondNode } from '../../src/drivers/chain/cross-checked.ts';
import type { ChainHealth, Observation } from '../../src/ports/chain.ts';
import type { ScriptedChain } from './scripted-chain.ts';

export class ScriptedSecondNode implements SecondNode {
  /** Calls fail. */
  unresponsive = false;
  /** The number of blocks that the node is behind. */
  lagBlocks = 0;
  /** Payments that the node does not have. */
  readonly missingKeys = new Set<string>();
  /** The keys of each `confirm` call. */
  readonly confirmCalls: string[][] = [];
  readonly #chain: ScriptedChain;
  #frozen: ReadonlyMap<string, Observation> | null = null;

  constructor(chain: ScriptedChain) {
    this.#chain = chain;
  }

  /** Stops receiving blocks: the current state of these payments stays, regardless of later changes. */
  freeze(keys: Iterable<string>): void {
    this.#frozen = new Map([...keys].map((key) => [key, this.#chain.observe(key)]));
  }

  /** Responds again, with all payments, at the chain's height. */
  repair(): void {
    this.unresponsive = false;
    this.lagBlocks = 0;
    this.missingKeys.clear();
    this.#frozen = null;
  }

  /** Returns the node's confirmations of a payment in this block; 0: none. */
  confirmationsOf({ key, blockHash }: Pick<Observation, 'key' | 'blockHash'>): number {
    if (this.unresponsive || this.missingKeys.has(key) || blockHash === null) return 0;
    const seen = this.#frozen === null ? this.#chain.observe(key) : this.#frozen.get(key);
    return seen?.blockHash === blockHash ? Math.max(0, seen.confirmations - this.lagBlocks) : 0;
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    this.confirmCalls.push(observations.map(({ key }) => key));
    if (this.unresponsive) throw new Error('scripted silence');
    const depths = observations.map((each) => [each.key, this.confirmationsOf(each)] as const);
    return new Map(depths.filter(([, depth]) => depth > 0));
  }

  async checkSafety(): Promise<void> {}

  async health(): Promise<ChainHealth> {
    if (this.unresponsive) throw new Error('scripted silence');
    return { ...(await this.#chain.health()), detail: 'scripted as well' };
  }
}
