/** Supplies blocks and their payments, in ether or in the token, to the block walk. */
import type { BlockHead, BlockSource, BlockWithTransfers, IncludedTransaction, Tip } from '../block-walk.ts';
import { type IncludedReceipt, type MovementReader, type ReadMovements, toTransfers } from './movement.ts';
import type { EvmNode } from './node.ts';

/**
 * Two epochs, after which the network finalizes a block; a final height that the node reports also limits it.
 * It is more than any payment needs, so that a final payment is always a confirmed one.
 */
export const FINAL_DEPTH = 64;

export type EvmCoin = 'ETH' | 'USDT';

export class EvmSource implements BlockSource {
  readonly #node: EvmNode;
  readonly #reader: MovementReader;
  #tip: EvmTip | undefined;

  constructor(node: EvmNode, reader: MovementReader) {
    this.#node = node;
    this.#reader = reader;
  }

  async tip(): Promise<EvmTip> {
    const { height, hash } = await this.#node.newest();
    // The tip is requested many times per block, and the final height doesn't change in between.
    if (this.#tip?.hash === hash) return this.#tip;
    const finalHeight = (await this.#node.finalHeight()) ?? height;
    this.#tip = { height, hash, finalHeight: Math.min(height - FINAL_DEPTH, finalHeight) };
    return this.#tip;
  }

  async head(height: number): Promise<BlockHead | null> {
    return await this.#node.head(height);
  }

  async headByHash(hash: string): Promise<BlockHead | null> {
    return await this.#node.headByHash(hash);
  }

  async blocks(from: number, to: number): Promise<readonly BlockWithTransfers[]> {
    const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const heads = (await this.#node.heads(heights)).map((head) => {
      if (head === null) throw new Error('the node has no block at a height below its tip');
      return head;
    });
    const movements = await this.#reader.readBlocks(heads);
    return heads.map((head, i) => ({ ...head, transfers: toTransfers(movements[i] ?? []) }));
  }

  async transactions(txids: readonly string[], tip: Tip): Promise<ReadonlyMap<string, IncludedTransaction>> {
    const found = await findTransactions(this.#node, txids, tip);
    const traced = await this.#reader.readTransactions([...found.values()]);
    return new Map(
      [...found].map(([txid, { head }]) => {
        const { movements, isPartial } = traced.get(txid) ?? NO_MOVEMENTS;
        return [txid, { head, transfers: toTransfers(movements), isPartial }];
      }),
    );
  }
}

type EvmTip = Tip & { readonly hash: string };

const NO_MOVEMENTS: ReadMovements = { movements: [], isPartial: false };

/**
 * Returns the successful transactions in blocks of the chain. Throws if the chain changed since this tip: a
 * missing transaction may then not be gone.
 */
async function findTransactions(
  node: EvmNode,
  txids: readonly string[],
  tip: Tip,
): Promise<ReadonlyMap<string, IncludedReceipt>> {
  const before = tip.hash === undefined ? await node.newest() : { height: tip.height, hash: tip.hash };
  const receipts = (await node.receipts(txids)).filter((receipt) => receipt !== null);
  // Include the previous tip: it must still be on the chain.
  const heights = [...new Set([...receipts.map(({ height }) => height), before.height])];
  const heads = new Map((await node.heads(heights)).map((head, i) => [heights[i], head]));
  const changed = [before, ...receipts.map(({ height, blockHash }) => ({ height, hash: blockHash }))].some(
    ({ height, hash }) => heads.get(height)?.hash !== hash,
  );
  if (changed) throw new Error('the chain changed during the read');
  const found = new Map<string, IncludedReceipt>();
  for (const receipt of receipts) {
    const head = heads.get(receipt.height);
    if (head && receipt.succeeded) found.set(receipt.txid, { head, receipt });
  }
  return found;
}
