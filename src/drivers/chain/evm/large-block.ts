/**
 * A block whose trace is too long, or takes too long, is read transaction by transaction. Anybody can make such a block for a few
 * dollars, and a block that cannot be read would hold up all payments of ether for good. A transaction that is too long by itself is
 * read by what it changed; and where the node cannot tell even that, by what it says itself that it pays: what contracts paid in it
 * is not seen then, and that is told.
 */
import { mapInChunks } from '../json-values.ts';
import { NodeError, NodeResponseTooLarge, NodeTimeout } from '../node-http.ts';
import { movementsFromPrestate, movementsFromStateDiff } from './balance-changes.ts';
import type { Movement } from './movement.ts';
import type { EvmBlockHead, EvmNode } from './node.ts';
import { movementsFromFrame, movementsFromTrace } from './traces.ts';

/** Each may be as long as a whole block. */
const CONCURRENCY = 2;

/**
 * As often one that the node fails to trace is tried again: what it changed would give a payment another key, where it is one of several
 * to an address, so that is not asked for because of a passing trouble.
 */
const MAX_ATTEMPTS = 3;
/** What nodes say of answers that they find too long: reth and others, and geth. */
const TOO_LARGE_CODES = [-32_008, -32_003];
/** Blocks of which it is kept what was read. */
const PARTIAL_BLOCKS_MAX = 8;
/** Transactions of which it is kept how often they failed. */
const FAILURES_MAX = 1_000;

/** How a node that can trace tells where ether went. */
export type TraceFormat = 'traces' | 'frames';

export class LargeBlockReader {
  readonly #node: EvmNode;
  readonly #onUnreadable: (line: string) => void;
  readonly #failures = new Map<string, number>();
  /** Of blocks, by transaction: a reading that was given up before its end goes on there. */
  readonly #partial = new Map<string, Map<string, readonly Movement[]>>();
  /** One block after the other. */
  #queue: Promise<unknown> = Promise.resolve();

  /** `unread` is told of what could not be read whole. */
  constructor(node: EvmNode, onUnreadable: (line: string) => void) {
    this.#node = node;
    this.#onUnreadable = onUnreadable;
  }

  /** Whether it was too much for the node before. */
  isInProgress({ hash }: EvmBlockHead): boolean {
    return this.#partial.has(hash);
  }

  async readMovements(telling: TraceFormat, head: EvmBlockHead): Promise<Movement[]> {
    const turn = this.#queue.then(() => this.#readBlock(telling, head));
    this.#queue = turn.catch(() => undefined);
    return await turn;
  }

  async #readBlock(telling: TraceFormat, head: EvmBlockHead): Promise<Movement[]> {
    const begun = this.#partialOf(head);
    const movements = await mapInChunks(head.txids, CONCURRENCY, async (txid) => {
      const told = begun.get(txid) ?? (await this.#readTransaction(telling, txid, head));
      begun.set(txid, told);
      return told;
    });
    // Not all of what was asked names its block.
    if ((await this.#node.head(head.height))?.hash !== head.hash) {
      this.#partial.delete(head.hash);
      throw new Error('the chain changed while it was read');
    }
    return movements.flat();
  }

  #partialOf({ hash }: EvmBlockHead): Map<string, readonly Movement[]> {
    const begun = this.#partial.get(hash) ?? new Map<string, readonly Movement[]>();
    this.#partial.set(hash, begun);
    const [oldest] = this.#partial.keys();
    if (this.#partial.size > PARTIAL_BLOCKS_MAX && oldest !== undefined) this.#partial.delete(oldest);
    return begun;
  }

  async #readTransaction(telling: TraceFormat, txid: string, head: EvmBlockHead): Promise<Movement[]> {
    try {
      return await this.#traceTransaction(telling, txid, head);
    } catch (error) {
      if (!isRequestFailure(error) || !(isTooLarge(error) || this.#hasExhaustedAttempts(txid))) throw error;
      return await this.#readChanges(telling, txid, error);
    }
  }

  /** Once more; whether that is often enough. */
  #hasExhaustedAttempts(txid: string): boolean {
    const times = (this.#failures.get(txid) ?? 0) + 1;
    this.#failures.set(txid, times);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > FAILURES_MAX && oldest !== undefined) this.#failures.delete(oldest);
    return times >= MAX_ATTEMPTS;
  }

  async #traceTransaction(telling: TraceFormat, txid: string, head: EvmBlockHead): Promise<Movement[]> {
    return telling === 'traces'
      ? movementsFromTrace(await this.#node.traceTransaction(txid), txid, head)
      : movementsFromFrame(await this.#node.traceTransactionCalls(txid), txid);
  }

  async #readChanges(telling: TraceFormat, txid: string, traceError: Error): Promise<Movement[]> {
    try {
      return await movementsFromChanges(this.#node, telling, txid);
    } catch (error) {
      // A node that can tell nothing of it, such as one that has no history of this block, may be replaced; what is too long stays so.
      if (!isTooLarge(traceError) || !isRequestFailure(error)) throw traceError;
      this.#onUnreadable(
        `transaction ${txid} is too long to be traced: what contracts paid in it is not seen`,
      );
      return await declaredMovements(this.#node, [txid]);
    }
  }
}

/** By what it changed. Throws NodeError where the node cannot tell in either way. */
export async function movementsFromChanges(
  node: EvmNode,
  telling: TraceFormat,
  txid: string,
): Promise<Movement[]> {
  const states = async () => movementsFromPrestate(await node.prestateDiff(txid), txid);
  if (telling === 'frames') return await states();
  try {
    return movementsFromStateDiff(await node.replayTransaction(txid), txid);
  } catch (error) {
    if (error instanceof NodeError) return await states();
    throw error;
  }
}

/** In one of the words that there are for it. */
export function isTooLarge(error: unknown): boolean {
  return (
    error instanceof NodeResponseTooLarge ||
    (error instanceof NodeError && TOO_LARGE_CODES.includes(error.code))
  );
}

/** Whether another transaction might be told of. */
export function isRequestFailure(error: unknown): error is Error {
  return error instanceof NodeError || error instanceof NodeResponseTooLarge || error instanceof NodeTimeout;
}

/** What these transactions, which succeeded or not, say themselves that they pay: what of those that succeeded is true. */
export async function declaredMovements(node: EvmNode, txids: readonly string[]): Promise<Movement[]> {
  const [payments, receipts] = [await node.payments(txids), await node.receipts(txids)];
  return payments.flatMap((payment, i) => {
    if (payment === null || payment.to === null || payment.amountUnits === 0n) return [];
    const receipt = receipts[i];
    if (!receipt?.succeeded || receipt.blockHash !== payment.blockHash) return [];
    return [{ txid: payment.txid, to: payment.to, amountUnits: payment.amountUnits }];
  });
}
