/**
 * Reads a block whose trace is too long or too slow one transaction at a time. Anyone can create such a block
 * for a few dollars, and a block that can't be read would block all ether payments permanently. A single
 * transaction that is too long is read by its balance changes. If the node can't report even those, only the
 * payment that the transaction itself declares is read; payments by contracts in it are missed, which is
 * logged.
 */
import pMap from 'p-map';
import { NodeError, NodeResponseTooLarge, NodeTimeout } from '../node-http.ts';
import { movementsFromPrestate, movementsFromStateDiff } from './balance-changes.ts';
import type { Movement } from './movement.ts';
import type { EvmBlockHead, EvmNode } from './node.ts';
import { movementsFromFrame, movementsFromTrace } from './traces.ts';

/** Each trace may be as long as a whole block's. */
const CONCURRENCY = 2;

/**
 * Attempts to trace a transaction before its balance changes are used instead. Those merge several payments
 * to one address and so change their keys, which a temporary failure must not cause.
 */
const MAX_ATTEMPTS = 3;
/** Error codes for a response that is too long: reth and others, and geth. */
const TOO_LARGE_CODES = [-32_008, -32_003];
/** Blocks whose partial results are cached. */
const PARTIAL_BLOCKS_MAX = 8;
/** Transactions whose failures are counted. */
const FAILURES_MAX = 1_000;

/** How a node that can trace reports transfers of ether. */
export type TraceFormat = 'traces' | 'frames';

export class LargeBlockReader {
  readonly #node: EvmNode;
  readonly #onUnreadable: (line: string) => void;
  readonly #failures = new Map<string, number>();
  /** Results by block and transaction: an aborted read resumes from there. */
  readonly #partial = new Map<string, Map<string, readonly Movement[]>>();
  /** Reads one block at a time. */
  #queue: Promise<unknown> = Promise.resolve();

  /** `onUnreadable` receives a log line for each transaction that could not be read completely. */
  constructor(node: EvmNode, onUnreadable: (line: string) => void) {
    this.#node = node;
    this.#onUnreadable = onUnreadable;
  }

  /** Whether the block was too large for the node before. */
  isInProgress({ hash }: EvmBlockHead): boolean {
    return this.#partial.has(hash);
  }

  async readMovements(format: TraceFormat, head: EvmBlockHead): Promise<Movement[]> {
    const turn = this.#queue.then(() => this.#readBlock(format, head));
    this.#queue = turn.catch(() => undefined);
    return await turn;
  }

  async #readBlock(format: TraceFormat, head: EvmBlockHead): Promise<Movement[]> {
    const partial = this.#partialOf(head);
    const readOne = async (txid: string): Promise<readonly Movement[]> => {
      const own = partial.get(txid) ?? (await this.#readTransaction(format, txid, head));
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

  #partialOf({ hash }: EvmBlockHead): Map<string, readonly Movement[]> {
    const partial = this.#partial.get(hash) ?? new Map<string, readonly Movement[]>();
    this.#partial.set(hash, partial);
    const [oldest] = this.#partial.keys();
    if (this.#partial.size > PARTIAL_BLOCKS_MAX && oldest !== undefined) this.#partial.delete(oldest);
    return partial;
  }

  async #readTransaction(format: TraceFormat, txid: string, head: EvmBlockHead): Promise<Movement[]> {
    try {
      return await this.#traceTransaction(format, txid, head);
    } catch (error) {
      if (!isRequestFailure(error) || !(isTooLarge(error) || this.#hasExhaustedAttempts(txid))) throw error;
      return await this.#readChanges(format, txid, error);
    }
  }

  /** Counts a failure and returns whether the attempts are used up. */
  #hasExhaustedAttempts(txid: string): boolean {
    const failures = (this.#failures.get(txid) ?? 0) + 1;
    this.#failures.set(txid, failures);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > FAILURES_MAX && oldest !== undefined) this.#failures.delete(oldest);
    return failures >= MAX_ATTEMPTS;
  }

  async #traceTransaction(format: TraceFormat, txid: string, head: EvmBlockHead): Promise<Movement[]> {
    return format === 'traces'
      ? movementsFromTrace(await this.#node.traceTransaction(txid), txid, head)
      : movementsFromFrame(await this.#node.traceTransactionCalls(txid), txid);
  }

  async #readChanges(format: TraceFormat, txid: string, traceError: Error): Promise<Movement[]> {
    try {
      return await movementsFromChanges(this.#node, format, txid);
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

/** Reads the balance changes of a transaction. Throws NodeError if the node supports neither method. */
export async function movementsFromChanges(
  node: EvmNode,
  format: TraceFormat,
  txid: string,
): Promise<Movement[]> {
  const fromPrestate = async () => movementsFromPrestate(await node.prestateDiff(txid), txid);
  if (format === 'frames') return await fromPrestate();
  try {
    return movementsFromStateDiff(await node.replayTransaction(txid), txid);
  } catch (error) {
    if (error instanceof NodeError) return await fromPrestate();
    throw error;
  }
}

/** Whether the response was too large, in any of the ways that nodes report it. */
export function isTooLarge(error: unknown): boolean {
  return (
    error instanceof NodeResponseTooLarge ||
    (error instanceof NodeError && TOO_LARGE_CODES.includes(error.code))
  );
}

/** Whether the failure concerns this request, so that another transaction may still be readable. */
export function isRequestFailure(error: unknown): error is Error {
  return error instanceof NodeError || error instanceof NodeResponseTooLarge || error instanceof NodeTimeout;
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
