/** Blocks and their payments, in ether or in the token, for the walk. */
import type { BlockHead, BlockSource, FoundTransaction, ReadBlock, Tip } from '../block-walk.ts';
import { EtherReader, type Told, type Tracing } from './ether.ts';
import { type Movement, transfersOf } from './movement.ts';
import type { EvmNode, Head, Receipt } from './node.ts';
import { movementsOfLogs, TRANSFER_TOPIC } from './token.ts';

/**
 * Two epochs, after which the network finalizes a block; where a node tells what is final, that counts as well. It is more than any
 * payment needs, so that a final one is a confirmed one.
 */
export const FINAL_DEPTH = 64;

export type EvmCoin = 'ETH' | 'USDT';

export interface Found {
  readonly head: Head;
  readonly receipt: Receipt;
}

export type Reads =
  | {
      readonly coin: 'ETH';
      readonly tracing: () => Tracing;
      /** Told of transactions that could not be read whole. */
      readonly unread?: (line: string) => void;
    }
  | { readonly coin: 'USDT'; readonly contract: string };

export class EvmSource implements BlockSource {
  readonly #node: EvmNode;
  readonly #reader: EtherReader | TokenReader;
  #tip: Newest | undefined;

  constructor(node: EvmNode, reads: Reads) {
    this.#node = node;
    this.#reader =
      reads.coin === 'ETH'
        ? new EtherReader(node, reads.tracing, reads.unread ?? (() => undefined))
        : new TokenReader(node, reads.contract);
  }

  async tip(): Promise<Newest> {
    const { height, hash } = await newestOf(this.#node);
    // The node is looked at many times for each block, and what is final changes by a block at most.
    if (this.#tip?.hash === hash) return this.#tip;
    const finalHeight = (await this.#node.finalHeight()) ?? height;
    this.#tip = { height, hash, finalHeight: Math.min(height - FINAL_DEPTH, finalHeight) };
    return this.#tip;
  }

  async head(height: number): Promise<BlockHead | null> {
    return await this.#node.head(height);
  }

  async block(hash: string): Promise<BlockHead | null> {
    return await this.#node.headOf(hash);
  }

  async blocks(from: number, to: number): Promise<readonly ReadBlock[]> {
    const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const heads = (await this.#node.heads(heights)).map((head) => {
      if (head === null) throw new Error('the node does not have a block below its newest');
      return head;
    });
    const movements = await this.#reader.ofBlocks(heads);
    return heads.map((head, i) => ({ ...head, transfers: transfersOf(movements[i] ?? []) }));
  }

  async transactions(txids: readonly string[], tip: Tip): Promise<ReadonlyMap<string, FoundTransaction>> {
    const found = await findTransactions(this.#node, txids, tip);
    const told = await this.#reader.ofTransactions([...found.values()]);
    return new Map(
      [...found].map(([txid, { head }]) => {
        const { movements, isPartial } = told.get(txid) ?? NOTHING;
        return [txid, { head, transfers: transfersOf(movements), isPartial }];
      }),
    );
  }
}

type Newest = Tip & { readonly hash: string };

const NOTHING: Told = { movements: [], isPartial: false };

class TokenReader {
  readonly #node: EvmNode;
  readonly #contract: string;

  constructor(node: EvmNode, contract: string) {
    this.#node = node;
    this.#contract = contract;
  }

  async ofBlocks(heads: readonly Head[]): Promise<(readonly Movement[])[]> {
    const of = { contract: this.#contract, topic: TRANSFER_TOPIC };
    const logs = await this.#node.logs(
      heads.map(({ hash }) => hash),
      of,
    );
    return heads.map(({ hash }, i) =>
      movementsOfLogs(logs[i] ?? [], { contract: this.#contract, blockHash: hash }),
    );
  }

  async ofTransactions(found: readonly Found[]): Promise<ReadonlyMap<string, Told>> {
    return new Map(
      found.map(({ receipt: { txid, logs, blockHash } }) => {
        const movements = movementsOfLogs(logs, { contract: this.#contract, blockHash });
        return [txid, { movements, isPartial: false }];
      }),
    );
  }
}

/**
 * Those that succeeded, in blocks of the chain. Throws where the chain changed since it had this tip: then what is missing may not be
 * gone.
 */
async function findTransactions(
  node: EvmNode,
  txids: readonly string[],
  tip: Tip,
): Promise<ReadonlyMap<string, Found>> {
  const before = tip.hash === undefined ? await newestOf(node) : { height: tip.height, hash: tip.hash };
  const receipts = (await node.receipts(txids)).filter((receipt) => receipt !== null);
  // With the newest of before: it must be there still.
  const heights = [...new Set([...receipts.map(({ height }) => height), before.height])];
  const heads = new Map((await node.heads(heights)).map((head, i) => [heights[i], head]));
  const changed = [before, ...receipts.map(({ height, blockHash }) => ({ height, hash: blockHash }))].some(
    ({ height, hash }) => heads.get(height)?.hash !== hash,
  );
  if (changed) throw new Error('the chain changed while it was read');
  const found = new Map<string, Found>();
  for (const receipt of receipts) {
    const head = heads.get(receipt.height);
    if (head && receipt.succeeded) found.set(receipt.txid, { head, receipt });
  }
  return found;
}

export async function newestOf(node: EvmNode): Promise<Head> {
  const head = await node.head('latest');
  if (head === null) throw new Error('the node has no block');
  return head;
}
