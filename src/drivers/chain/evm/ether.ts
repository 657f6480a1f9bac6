/**
 * Ether transfers have no logs: a contract may pay an address without a transaction to it, as exchanges do
 * for batch payouts. Only executing the block again reveals that, so the node must be able to trace.
 */
import pMap from 'p-map';
import { UnsafeChainError } from '../../../ports/chain.ts';
import { NodeError } from '../node-http.ts';
import {
  declaredMovements,
  isRequestFailure,
  isTooLarge,
  LargeBlockReader,
  type TraceFormat,
} from './large-block.ts';
import type { Movement } from './movement.ts';
import type { EvmBlockHead, EvmNode } from './node.ts';
import { movementsFromFrames, movementsFromTraces } from './traces.ts';

/** How the node reports transfers of ether. */
export type Tracing = TraceFormat | 'none';

/** Blocks traced concurrently: each costs the node about as much as its first execution, and memory here. */
export const TRACE_CONCURRENCY = 2;
/** Transactions whose movements are cached: in a given block they never change. */
const CACHE_MAX = 2_000;

/**
 * Detects the trace method with the newest block, once per safety check. Throws if tracing fails for another
 * reason.
 */
export async function detectTracing(node: EvmNode, newest: EvmBlockHead): Promise<Tracing> {
  for (const tracing of ['traces', 'frames'] as const) {
    try {
      await traceBlock(node, tracing, newest);
      return tracing;
    } catch (error) {
      if (isMethodUnavailable(error)) continue;
      // It can trace, but this block's trace is too large.
      if (isTooLarge(error)) return tracing;
      // geth reports an error for the genesis block, because it was never executed.
      if (error instanceof NodeError && newest.height === 0) return tracing;
      throw error;
    }
  }
  return 'none';
}

/** Refuses a node without tracing: payments would be missed silently. */
export function requireTracing(tracing: Tracing): void {
  if (tracing !== 'none') return;
  throw new UnsafeChainError(
    'the node supports neither trace_block nor debug_traceBlockByHash, so payments made by contracts, such ' +
      'as exchange payouts, would be missed. Enable its trace or debug API',
  );
}

/** Whether the method is missing or disabled; each node implementation has its own code and message. */
function isMethodUnavailable(error: unknown): boolean {
  if (!(error instanceof NodeError)) return false;
  return [-32601, -32600, -32004].includes(error.code) || /method|namespace|module/i.test(error.message);
}

/** Returns the movements in this block. Throws NodeError if the node can't trace it, or no longer can. */
export async function traceBlock(node: EvmNode, tracing: Tracing, head: EvmBlockHead): Promise<Movement[]> {
  if (tracing === 'none') throw new Error('the node cannot trace');
  return tracing === 'traces'
    ? movementsFromTraces(await node.traceBlock(head.height), head)
    : movementsFromFrames(await node.traceBlockCalls(head.hash), head);
}

export interface TracedMovements {
  readonly movements: readonly Movement[];
  /** The node can't trace the block: there may be more movements. */
  readonly isPartial: boolean;
}

export class EtherReader {
  readonly #node: EvmNode;
  readonly #tracing: () => Tracing;
  readonly #largeBlocks: LargeBlockReader;
  readonly #cache = new Map<string, readonly Movement[]>();

  constructor(node: EvmNode, tracing: () => Tracing, onUnreadable: (line: string) => void) {
    this.#node = node;
    this.#tracing = tracing;
    this.#largeBlocks = new LargeBlockReader(node, onUnreadable);
  }

  /** Returns the movements of each block, in order. */
  async readBlocks(heads: readonly EvmBlockHead[]): Promise<(readonly Movement[])[]> {
    return await pMap(heads, (head) => this.#readBlock(head), { concurrency: TRACE_CONCURRENCY });
  }

  async #readBlock(head: EvmBlockHead): Promise<readonly Movement[]> {
    const tracing = this.#tracing();
    if (head.txids.length === 0) return [];
    // Don't request the whole block again: that would use up each poll's time.
    if (tracing !== 'none' && this.#largeBlocks.isInProgress(head))
      return await this.#largeBlocks.readMovements(tracing, head);
    try {
      return await traceBlock(this.#node, tracing, head);
    } catch (error) {
      // Nodes report an oversized block in many ways.
      if (!isRequestFailure(error) || tracing === 'none') throw error;
      return await this.#largeBlocks.readMovements(tracing, head);
    }
  }

  /** Returns the movements of successful transactions, each in its block, by txid. */
  async readTransactions(
    found: readonly { readonly head: EvmBlockHead; readonly receipt: { readonly txid: string } }[],
  ): Promise<ReadonlyMap<string, TracedMovements>> {
    const results = new Map<string, TracedMovements>();
    const unknown = new Map<string, { readonly head: EvmBlockHead; readonly txids: string[] }>();
    for (const {
      head,
      receipt: { txid },
    } of found) {
      const cached = this.#cache.get(cacheKey(txid, head));
      if (cached) results.set(txid, { movements: cached, isPartial: false });
      else unknown.set(head.hash, { head, txids: [...(unknown.get(head.hash)?.txids ?? []), txid] });
    }
    const blocks = await pMap(unknown.values(), ({ head, txids }) => this.#readInBlock(head, txids), {
      concurrency: TRACE_CONCURRENCY,
    });
    return new Map([...results, ...blocks.flatMap((block) => [...block])]);
  }

  async #readInBlock(
    head: EvmBlockHead,
    txids: readonly string[],
  ): Promise<ReadonlyMap<string, TracedMovements>> {
    const traced = await this.#tryReadBlock(head);
    const movements = traced ?? (await declaredMovements(this.#node, txids));
    return new Map(
      txids.map((txid) => {
        const own = movements.filter((each) => each.txid === txid);
        if (traced) this.#cacheMovements(cacheKey(txid, head), own);
        return [txid, { movements: own, isPartial: traced === null }];
      }),
    );
  }

  /** Returns null if the node can't trace the block, or no longer can. */
  async #tryReadBlock(head: EvmBlockHead): Promise<readonly Movement[] | null> {
    if (this.#tracing() === 'none') return null;
    try {
      return await this.#readBlock(head);
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  #cacheMovements(name: string, movements: readonly Movement[]): void {
    this.#cache.set(name, movements);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > CACHE_MAX && oldest !== undefined) this.#cache.delete(oldest);
  }
}

function cacheKey(txid: string, head: EvmBlockHead): string {
  return `${head.hash} ${txid}`;
}
