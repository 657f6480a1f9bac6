/**
 * A block whose trace is too long, or takes too long, is read transaction by transaction. Anybody can make such a block for a few
 * dollars, and a block that cannot be read would hold up all payments of ether for good. A transaction that is too long by itself is
 * read by what it changed; and where the node cannot tell even that, by what it says itself that it pays: what contracts paid in it
 * is not seen then, and that is told.
 */
import { several } from '../answers.ts';
import { NodeError, NodeSlow, NodeTooLong } from '../node-http.ts';
import { movementsOfDiff, movementsOfStates } from './balances.ts';
import type { Movement } from './movement.ts';
import type { EvmNode, Head } from './node.ts';
import { movementsOfFrame, movementsOfTrace } from './traces.ts';

/** Each may be as long as a whole block. */
const AT_ONCE = 2;

/**
 * As often one that the node fails to trace is tried again: what it changed would give a payment another key, where it is one of several
 * to an address, so that is not asked for because of a passing trouble.
 */
const TRIES = 3;
/** What nodes say of answers that they find too long: reth and others, and geth. */
const TOO_LONG = [-32_008, -32_003];
/** Blocks of which it is kept what was read. */
const BEGUN_MOST = 8;
/** Transactions of which it is kept how often they failed. */
const FAILED_MOST = 1_000;

/** How a node that can trace tells where ether went. */
export type Telling = 'traces' | 'frames';

export class LargeBlocks {
  readonly #node: EvmNode;
  readonly #unread: (line: string) => void;
  readonly #failed = new Map<string, number>();
  /** Of blocks, by transaction: a reading that was given up before its end goes on there. */
  readonly #begun = new Map<string, Map<string, readonly Movement[]>>();
  /** One block after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `unread` is told of what could not be read whole. */
  constructor(node: EvmNode, unread: (line: string) => void) {
    this.#node = node;
    this.#unread = unread;
  }

  /** Whether it was too much for the node before. */
  hasBegun({ hash }: Head): boolean {
    return this.#begun.has(hash);
  }

  async movements(telling: Telling, head: Head): Promise<Movement[]> {
    const turn = this.#turn.then(() => this.#read(telling, head));
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  async #read(telling: Telling, head: Head): Promise<Movement[]> {
    const begun = this.#begunOf(head);
    const movements = await several(head.txids, AT_ONCE, async (txid) => {
      const told = begun.get(txid) ?? (await this.#ofTransaction(telling, txid, head));
      begun.set(txid, told);
      return told;
    });
    // Not all of what was asked names its block.
    if ((await this.#node.head(head.height))?.hash !== head.hash) {
      this.#begun.delete(head.hash);
      throw new Error('the chain changed while it was read');
    }
    return movements.flat();
  }

  #begunOf({ hash }: Head): Map<string, readonly Movement[]> {
    const begun = this.#begun.get(hash) ?? new Map<string, readonly Movement[]>();
    this.#begun.set(hash, begun);
    const [oldest] = this.#begun.keys();
    if (this.#begun.size > BEGUN_MOST && oldest !== undefined) this.#begun.delete(oldest);
    return begun;
  }

  async #ofTransaction(telling: Telling, txid: string, head: Head): Promise<Movement[]> {
    try {
      return await this.#traced(telling, txid, head);
    } catch (error) {
      if (!isOfOne(error) || !(isTooLong(error) || this.#hasFailed(txid))) throw error;
      return await this.#changed(telling, txid, error);
    }
  }

  /** Once more; whether that is often enough. */
  #hasFailed(txid: string): boolean {
    const times = (this.#failed.get(txid) ?? 0) + 1;
    this.#failed.set(txid, times);
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > FAILED_MOST && oldest !== undefined) this.#failed.delete(oldest);
    return times >= TRIES;
  }

  async #traced(telling: Telling, txid: string, head: Head): Promise<Movement[]> {
    return telling === 'traces'
      ? movementsOfTrace(await this.#node.traceTransaction(txid), txid, head)
      : movementsOfFrame(await this.#node.callFrame(txid), txid);
  }

  async #changed(telling: Telling, txid: string, untraced: Error): Promise<Movement[]> {
    try {
      return await changedBy(this.#node, telling, txid);
    } catch (error) {
      // A node that can tell nothing of it, such as one that has no history of this block, may be replaced; what is too long stays so.
      if (!isTooLong(untraced) || !isOfOne(error)) throw untraced;
      this.#unread(`transaction ${txid} is too long to be traced: what contracts paid in it is not seen`);
      return await saidMovements(this.#node, [txid]);
    }
  }
}

/** By what it changed. Throws NodeError where the node cannot tell in either way. */
export async function changedBy(node: EvmNode, telling: Telling, txid: string): Promise<Movement[]> {
  const states = async () => movementsOfStates(await node.changedStates(txid), txid);
  if (telling === 'frames') return await states();
  try {
    return movementsOfDiff(await node.replayTransaction(txid), txid);
  } catch (error) {
    if (error instanceof NodeError) return await states();
    throw error;
  }
}

/** In one of the words that there are for it. */
export function isTooLong(error: unknown): boolean {
  return error instanceof NodeTooLong || (error instanceof NodeError && TOO_LONG.includes(error.code));
}

/** Whether another transaction might be told of. */
export function isOfOne(error: unknown): error is Error {
  return error instanceof NodeError || error instanceof NodeTooLong || error instanceof NodeSlow;
}

/** What these transactions, which succeeded or not, say themselves that they pay: what of those that succeeded is true. */
export async function saidMovements(node: EvmNode, txids: readonly string[]): Promise<Movement[]> {
  const [payments, receipts] = [await node.payments(txids), await node.receipts(txids)];
  return payments.flatMap((payment, i) => {
    if (payment === null || payment.to === null || payment.amountUnits === 0n) return [];
    const receipt = receipts[i];
    if (!receipt?.succeeded || receipt.blockHash !== payment.blockHash) return [];
    return [{ txid: payment.txid, to: payment.to, amountUnits: payment.amountUnits }];
  });
}
