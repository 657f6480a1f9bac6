/** A second node beside a scripted chain: it has what the chain has, unless a test tells it otherwise. */
import type { SecondNode } from '../../src/drivers/chain/cross-checked.ts';
import type { ChainHealth, Observation } from '../../src/ports/chain.ts';
import type { ScriptedChain } from './scripted-chain.ts';

export class ScriptedSecondNode implements SecondNode {
  /** It does not answer. */
  unresponsive = false;
  /** Blocks that it is behind. */
  lagBlocks = 0;
  /** Payments that it lacks. */
  readonly missingKeys = new Set<string>();
  /** The keys that it was asked for, question by question. */
  readonly confirmCalls: string[][] = [];
  readonly #chain: ScriptedChain;
  #frozen: ReadonlyMap<string, Observation> | null = null;

  constructor(chain: ScriptedChain) {
    this.#chain = chain;
  }

  /** It gets no new blocks: what it says of these payments is what is so now, whatever becomes of them. */
  freeze(keys: Iterable<string>): void {
    this.#frozen = new Map([...keys].map((key) => [key, this.#chain.observe(key)]));
  }

  /** It answers, has all, and is where the chain is. */
  repair(): void {
    this.unresponsive = false;
    this.lagBlocks = 0;
    this.missingKeys.clear();
    this.#frozen = null;
  }

  /** Confirmations that it has of a payment in this block; 0: none. */
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
