/** A second node beside a scripted chain: it has what the chain has, unless a test tells it otherwise. */
import type { Witness } from '../../src/drivers/chain/witnessed.ts';
import type { ChainHealth, Observation } from '../../src/ports/chain.ts';
import type { ScriptedChain } from './scripted-chain.ts';

export class ScriptedWitness implements Witness {
  /** It does not answer. */
  silent = false;
  /** Blocks that it is behind. */
  lagBlocks = 0;
  /** Payments that it lacks. */
  readonly lacks = new Set<string>();
  /** The keys that it was asked for, question by question. */
  readonly asked: string[][] = [];
  readonly #chain: ScriptedChain;
  #known: ReadonlyMap<string, Observation> | null = null;

  constructor(chain: ScriptedChain) {
    this.#chain = chain;
  }

  /** It gets no new blocks: what it says of these payments is what is so now, whatever becomes of them. */
  freeze(keys: Iterable<string>): void {
    this.#known = new Map([...keys].map((key) => [key, this.#chain.observe(key)]));
  }

  /** It answers, has all, and is where the chain is. */
  mend(): void {
    this.silent = false;
    this.lagBlocks = 0;
    this.lacks.clear();
    this.#known = null;
  }

  /** Confirmations that it has of a payment in this block; 0: none. */
  depth({ key, blockHash }: Pick<Observation, 'key' | 'blockHash'>): number {
    if (this.silent || this.lacks.has(key) || blockHash === null) return 0;
    const seen = this.#known === null ? this.#chain.observe(key) : this.#known.get(key);
    return seen?.blockHash === blockHash ? Math.max(0, seen.confirmations - this.lagBlocks) : 0;
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    this.asked.push(observations.map(({ key }) => key));
    if (this.silent) throw new Error('scripted silence');
    const depths = observations.map((each) => [each.key, this.depth(each)] as const);
    return new Map(depths.filter(([, depth]) => depth > 0));
  }

  async prove(): Promise<void> {}

  async health(): Promise<ChainHealth> {
    if (this.silent) throw new Error('scripted silence');
    return { ...(await this.#chain.health()), detail: 'scripted as well' };
  }
}
