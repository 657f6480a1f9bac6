/**
 * Supplies Tron blocks to the block walk: transactions and their outcomes, which the node returns separately.
 */

import pMap from 'p-map';
import { toTronHex, tronHash } from '../addresses.ts';
import type { BlockHead, BlockSource, BlockWithTransfers, Tip } from '../block-walk.ts';
import { asString, type JsonObject, optionalUint } from '../json-values.ts';
import type { Transfer } from '../payment-keys.ts';
import type { TronBlock, TronNode } from './node.ts';
import { type TronCoin, transfersOf } from './payments.ts';

const CONCURRENCY = 4;
/**
 * One round of the 27 block producers, of which 19 make a block final. A block that the node calls final is
 * treated so only once it is also one round deep, which is more than any amount needs.
 */
export const ROUND_BLOCKS = 27;

export class TronSource implements BlockSource {
  readonly #node: TronNode;
  readonly #coin: TronCoin;
  readonly #token: string | null;

  constructor(node: TronNode, coin: TronCoin, contract: string) {
    this.#node = node;
    this.#coin = coin;
    this.#token = tronHash(toTronHex(contract) ?? '');
  }

  async tip(): Promise<Tip> {
    const solidHeight = await this.#node.solidHeight();
    const { height } = await this.#node.latestBlock();
    const roundHeight = height - ROUND_BLOCKS + 1;
    return { height, finalHeight: Math.min(solidHeight ?? roundHeight, roundHeight) };
  }

  async head(height: number): Promise<BlockHead | null> {
    return await this.#node.head(height);
  }

  async blocks(from: number, to: number): Promise<readonly BlockWithTransfers[]> {
    const blocks = await this.#node.blocks(from, to);
    return await pMap(blocks, (block) => this.#readBlock(block), { concurrency: CONCURRENCY });
  }

  async transactions(
    txids: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly head: BlockHead; readonly transfers: readonly Transfer[] }>> {
    const readOne = async (txid: string) => {
      const outcome = await this.#node.transactionOutcome(txid);
      // Token transfers need only the outcome.
      const transaction = outcome && (this.#coin === 'TRX' ? await this.#node.transaction(txid) : {});
      const height = optionalUint(outcome?.blockNumber, 'block height');
      const head = outcome && height !== null ? await this.#node.head(height) : null;
      if (!outcome || !transaction || !head) return [];
      // Each block has a unique time: a different one means that the block was replaced in the meantime.
      if (optionalUint(outcome.blockTimeStamp, 'block time') !== head.time.getTime()) {
        throw new Error('the chain changed during the read');
      }
      return [[txid, { head, transfers: this.#transfers({ txid, transaction, outcome }) }] as const];
    };
    return new Map((await pMap(txids, readOne, { concurrency: CONCURRENCY })).flat());
  }

  async #readBlock(block: TronBlock): Promise<BlockWithTransfers> {
    const { transactions, ...head } = block;
    // The genesis block has no outcomes and pays none of our addresses.
    if (transactions.length === 0 || head.height === 0) return { ...head, transfers: [] };
    const outcomes = new Map(
      (await this.#node.transactionOutcomes(head.height)).map((outcome) => [
        asString(outcome.id, 'transaction id'),
        outcome,
      ]),
    );
    // A payment without its outcome would be missed permanently; and the block may have changed between the
    // requests.
    if (outcomes.size !== transactions.length) throw new Error(INCOMPLETE_BLOCK);
    const transfers = transactions.flatMap((transaction) => {
      const txid = asString(transaction.txID, 'transaction id');
      const outcome = outcomes.get(txid);
      if (outcome === undefined) throw new Error(INCOMPLETE_BLOCK);
      return this.#transfers({ txid, transaction, outcome });
    });
    return { ...head, transfers };
  }

  #transfers(executed: { txid: string; transaction: JsonObject; outcome: JsonObject }): readonly Transfer[] {
    return transfersOf(this.#coin, this.#token, executed);
  }
}

const INCOMPLETE_BLOCK =
  'the node did not return the outcome of every transaction of a block, or the chain changed during the read';
