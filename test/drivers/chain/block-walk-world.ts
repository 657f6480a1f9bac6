/** A block walk over an in-memory chain that the test controls. */
import {
  type BlockHead,
  type BlockSource,
  BlockWalk,
  type BlockWithTransfers,
  type Tip,
} from '../../../src/drivers/chain/block-walk.ts';
import type { Transfer } from '../../../src/drivers/chain/payment-keys.ts';
import type { PollResult } from '../../../src/ports/chain.ts';

/** A block's hash is its branch and height, so that blocks of different branches have different hashes. */
export class MemoryChain implements BlockSource {
  blocksRead: number[] = [];
  finalLag = 5;
  /** How many of the newest orphaned blocks the chain still knows. */
  knownOrphans = 0;
  readonly #orphans: BlockWithTransfers[] = [];
  #blocks: BlockWithTransfers[] = [];
  #branch = 'a';
  /** Runs before blocks are returned. */
  beforeBlocks: () => void = () => undefined;

  mine(...payments: (readonly Transfer[])[]): void {
    for (const transfers of payments.length > 0 ? payments : [[]]) {
      const height = this.#blocks.length;
      const parentHash = this.#blocks.at(-1)?.hash ?? 'none';
      const time = new Date(height * 1000);
      this.#blocks.push({ height, hash: `${this.#branch}${height}`, parentHash, time, transfers });
    }
  }

  mineEmpty(count: number): void {
    this.mine(...Array.from({ length: count }, () => []));
  }

  drop(count: number, branch: string): void {
    this.#orphans.push(...this.#blocks.splice(this.#blocks.length - count));
    this.#branch = branch;
  }

  /** Replaces the newest blocks: some of their payments move to other blocks, the rest disappear. */
  reorg(depth: number, branch: string, choice: number): void {
    const orphaned = this.#blocks.slice(this.#blocks.length - Math.min(depth, this.#blocks.length - 1));
    this.drop(orphaned.length, branch);
    const readded = orphaned.flatMap(({ transfers }) => transfers).filter((_, i) => (choice + i) % 3 > 0);
    for (let i = 0; i < orphaned.length; i++) this.mine(readded.splice(0, (choice + i) % 4));
    this.mine(readded);
  }

  /** Returns all payments with their blocks. */
  payments(): string[] {
    return this.#blocks.flatMap(({ transfers, height, hash }) =>
      transfers.map(({ key }) => `${key} ${height} ${hash}`),
    );
  }

  async tip(): Promise<Tip> {
    const height = this.#blocks.length - 1;
    return { height, finalHeight: height - this.finalLag };
  }

  async head(height: number): Promise<BlockHead | null> {
    return this.#blocks[height] ?? null;
  }

  async headByHash(hash: string): Promise<BlockHead | null> {
    const known = this.#orphans.slice(Math.max(0, this.#orphans.length - this.knownOrphans));
    return [...known, ...this.#blocks].find((block) => block.hash === hash) ?? null;
  }

  async blocks(from: number, to: number): Promise<readonly BlockWithTransfers[]> {
    const before = this.#blocks.slice(from, from + 1);
    this.beforeBlocks();
    const blocks = [...before, ...this.#blocks.slice(from + 1, to + 1)];
    this.blocksRead.push(...blocks.map(({ height }) => height));
    return blocks;
  }

  async transactions(
    txids: readonly string[],
  ): Promise<ReadonlyMap<string, { head: BlockHead; transfers: readonly Transfer[] }>> {
    const found = this.#blocks.flatMap((head) =>
      txids.flatMap((txid) => {
        const transfers = head.transfers.filter((transfer) => transfer.txid === txid);
        return transfers.length > 0 ? [[txid, { head, transfers }] as const] : [];
      }),
    );
    return new Map(found);
  }
}

export function pays(address: string, txid: string, amountUnits = 7n): Transfer {
  return { key: `${txid}:0`, txid, address, amountUnits };
}

export class WalkFixture {
  readonly chain = new MemoryChain();
  readonly ownQueries: (readonly string[])[] = [];
  walk: BlockWalk;
  cursor: string | null = null;
  readonly #options: { readonly rewindBlocks: number; readonly maxBlocksPerPoll: number };

  constructor({ rewindBlocks = 4, maxBlocksPerPoll = 100 } = {}) {
    this.#options = { rewindBlocks, maxBlocksPerPoll };
    this.walk = this.#walk();
  }

  /** Continues like another process. */
  restart(): void {
    this.walk = this.#walk();
  }

  #walk(): BlockWalk {
    const own = async (addresses: readonly string[]) => {
      this.ownQueries.push(addresses);
      return new Set(addresses.filter((address) => address.startsWith('ours')));
    };
    return new BlockWalk(this.chain, own, this.#options);
  }

  async poll(): Promise<PollResult> {
    const polled = await this.walk.poll({ cursor: this.cursor });
    this.cursor = polled.cursor;
    return polled;
  }

  async pollSummaries(): Promise<string[]> {
    return (await this.poll()).observations.map(
      ({ key, state, confirmations }) => `${key} ${state} ${confirmations}`,
    );
  }
}
