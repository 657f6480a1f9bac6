/** Blocks of Tron for the walk: each block's transactions, and what they did, which the node tells apart from them. */

import type { BlockHead, BlockSource, BlockWithTransfers, Tip, Transfer } from '../block-walk.ts';
import { asString, type JsonObject, mapInChunks, optionalUint } from '../json-values.ts';
import { addressHash, toHexAddress } from './address.ts';
import type { TronBlock, TronNode } from './node.ts';
import { type TronCoin, transfersOf } from './payments.ts';

const CONCURRENCY = 4;
/**
 * One round of the 27 who make blocks. 19 of them make a block final; what the node calls so is taken for it only a round deep,
 * which is also more than any amount needs.
 */
export const ROUND_BLOCKS = 27;

export class TronSource implements BlockSource {
  readonly #node: TronNode;
  readonly #coin: TronCoin;
  readonly #token: string | null;

  constructor(node: TronNode, coin: TronCoin, contract: string) {
    this.#node = node;
    this.#coin = coin;
    this.#token = addressHash(toHexAddress(contract) ?? '');
  }

  async tip(): Promise<Tip> {
    const solidHeight = await this.#node.solidHeight();
    const { height } = await this.#node.latestBlock();
    const deep = height - ROUND_BLOCKS + 1;
    return { height, finalHeight: Math.min(solidHeight ?? deep, deep) };
  }

  async head(height: number): Promise<BlockHead | null> {
    return await this.#node.head(height);
  }

  async blocks(from: number, to: number): Promise<readonly BlockWithTransfers[]> {
    return await mapInChunks(await this.#node.blocks(from, to), CONCURRENCY, (block) =>
      this.#readBlock(block),
    );
  }

  async transactions(
    txids: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly head: BlockHead; readonly transfers: readonly Transfer[] }>> {
    const found = await mapInChunks(txids, CONCURRENCY, async (txid) => {
      const outcome = await this.#node.transactionOutcome(txid);
      const transaction = outcome && (await this.#transaction(txid));
      const height = optionalUint(outcome?.blockNumber, 'a block’s height');
      const head = outcome && height !== null ? await this.#node.head(height) : null;
      if (!outcome || !transaction || !head) return [];
      // Every block has a time of its own: this one has taken the place of another meanwhile.
      if (optionalUint(outcome.blockTimeStamp, 'a block’s time') !== head.time.getTime()) {
        throw new Error('the chain changed while it was read');
      }
      return [[txid, { head, transfers: this.#transfers({ txid, transaction, outcome }) }] as const];
    });
    return new Map(found.flat());
  }

  async #readBlock(block: TronBlock): Promise<BlockWithTransfers> {
    const { transactions, ...head } = block;
    // The first block has no outcomes, and pays nobody of ours.
    if (transactions.length === 0 || head.height === 0) return { ...head, transfers: [] };
    const outcomes = new Map(
      (await this.#node.transactionOutcomes(head.height)).map((outcome) => [
        asString(outcome.id, 'a transaction’s id'),
        outcome,
      ]),
    );
    // A payment of which the node tells only half would be missed for ever; and a block may have changed between the two answers.
    if (outcomes.size !== transactions.length) throw new Error(INCOMPLETE_BLOCK);
    const transfers = transactions.flatMap((transaction) => {
      const txid = asString(transaction.txID, 'a transaction’s id');
      const outcome = outcomes.get(txid);
      if (outcome === undefined) throw new Error(INCOMPLETE_BLOCK);
      return this.#transfers({ txid, transaction, outcome });
    });
    return { ...head, transfers };
  }

  /** Tokens are seen by what was done alone. */
  async #transaction(txid: string): Promise<JsonObject | null> {
    return this.#coin === 'TRX' ? await this.#node.transaction(txid) : {};
  }

  #transfers(executed: { txid: string; transaction: JsonObject; outcome: JsonObject }): readonly Transfer[] {
    return transfersOf(this.#coin, this.#token, executed);
  }
}

const INCOMPLETE_BLOCK =
  'the node does not tell what each transaction of a block did, or the chain changed while it was read';
