/**
 * Reads a block whose trace is too long or too slow one transaction at a time: ways 2 to 4 of
 * `ether-reader.ts`. Anyone can create such a block for a few dollars, and a block that can't be read would
 * block all ether payments permanently. Payments by contracts are missed only in a transaction that comes to
 * way 4, which is logged.
 */
import pLimit from 'p-limit';
import pMap from 'p-map';
import { BoundedMap } from '../../../kernel/bounded-map.ts';
import type { Movement } from './movement.ts';
import type { EvmBlockHead, EvmNode } from './node.ts';
import { isRequestFailure, isTooLarge, type TraceApi } from './trace-apis.ts';

/** Each trace may be as long as a whole block's. */
const CONCURRENCY = 2;
/**
 * Attempts to trace a transaction before its balance increases are used instead. Those merge several payments
 * to one address and so change their keys, which a temporary failure must not cause.
 */
const MAX_ATTEMPTS = 3;
/** Blocks whose partial results are cached. */
const PARTIAL_BLOCKS_MAX = 8;
/** Transactions whose failures are counted. */
const FAILURES_MAX = 1_000;

export class LargeBlockReader {
  readonly #node: EvmNode;
  readonly #onUnreadable: (line: string) => void;
  readonly #failures = new BoundedMap<string, number>(FAILURES_MAX);
  /** Results by block and transaction: an aborted read resumes from there. */
  readonly #partial = new BoundedMap<string, Map<string, readonly Movement[]>>(PARTIAL_BLOCKS_MAX);
  readonly #oneBlockAtATime = pLimit(1);

  /** `onUnreadable` receives a log line for each transaction that could not be read completely. */
  constructor(node: EvmNode, onUnreadable: (line: string) => void) {
    this.#node = node;
    this.#onUnreadable = onUnreadable;
  }

  /** Whether the block was too large for the node before. */
  isInProgress({ hash }: EvmBlockHead): boolean {
    return this.#partial.has(hash);
  }

  async read(api: TraceApi, head: EvmBlockHead): Promise<Movement[]> {
    return await this.#oneBlockAtATime(() => this.#readBlock(api, head));
  }

  async #readBlock(api: TraceApi, head: EvmBlockHead): Promise<Movement[]> {
    const partial = this.#partial.ensure(head.hash, () => new Map());
    const readOne = async (txid: string): Promise<readonly Movement[]> => {
      const own = partial.get(txid) ?? (await this.#readTransaction(api, txid, head));
      partial.set(txid, own);
      return own;
    };
    const movements = await pMap(head.txids, readOne, { concurrency: CONCURRENCY });
    // Some of these responses don't name their block, so check that it is still on the chain.
    if ((await this.#node.head(head.height))?.hash !== head.hash) {
      this.#partial.delete(head.hash);
      throw new Error('the chain changed during the read');
    }
    return movements.flat();
  }

  /** Way 2. */
  async #readTransaction(api: TraceApi, txid: string, head: EvmBlockHead): Promise<Movement[]> {
    try {
      return await api.readTransaction(this.#node, txid, head);
    } catch (error) {
      if (!isRequestFailure(error)) throw error;
      if (!isTooLarge(error) && this.#countFailure(txid) < MAX_ATTEMPTS) throw error;
      return await this.#readIncreases(api, txid, error);
    }
  }

  #countFailure(txid: string): number {
    const failures = (this.#failures.get(txid) ?? 0) + 1;
    this.#failures.set(txid, failures);
    return failures;
  }

  /** Way 3, and way 4 if that fails. */
  async #readIncreases(api: TraceApi, txid: string, traceError: Error): Promise<Movement[]> {
    try {
      return await api.readIncreases(this.#node, txid);
    } catch (error) {
      // A node that can't report anything, for example without history of this block, may be replaced. An
      // oversized transaction stays oversized.
      if (!isTooLarge(traceError) || !isRequestFailure(error)) throw traceError;
      this.#onUnreadable(
        `transaction ${txid} is too long to trace: payments made by contracts in it are not detected`,
      );
      return await declaredMovements(this.#node, [txid]);
    }
  }
}

/** Returns the payments that the successful ones among these transactions declare themselves. */
export async function declaredMovements(node: EvmNode, txids: readonly string[]): Promise<Movement[]> {
  const [payments, receipts] = [await node.payments(txids), await node.receipts(txids)];
  return payments.flatMap((payment, i) => {
    if (payment === null || payment.to === null || payment.amountUnits === 0n) return [];
    const receipt = receipts[i];
    if (!receipt?.succeeded || receipt.blockHash !== payment.blockHash) return [];
    return [{ txid: payment.txid, to: payment.to, amountUnits: payment.amountUnits }];
  });
}
