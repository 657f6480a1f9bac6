/**
 * Ether has no logs: a contract may pay an address without a transaction to it, as exchanges do that pay many at once. Only who
 * executes a block again sees that, so the node must be able to trace.
 */
import { UnsafeChainError } from '../../../ports/chain.ts';
import { mapInChunks } from '../json-values.ts';
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

/** How a node tells where ether went. */
export type Tracing = TraceFormat | 'none';

/** Blocks traced at the same time: each costs the node about what its first execution did, and memory here. */
export const TRACE_CONCURRENCY = 2;
/** Transactions whose movements are kept: in one block they are always the same. */
const CACHE_MAX = 2_000;

/** Asked once for each proof: by the newest block. Throws where the node could trace, but does not now. */
export async function detectTracing(node: EvmNode, newest: EvmBlockHead): Promise<Tracing> {
  for (const tracing of ['traces', 'frames'] as const) {
    try {
      await traceBlock(node, tracing, newest);
      return tracing;
    } catch (error) {
      if (isMethodUnavailable(error)) continue;
      // It can, and more than is wanted.
      if (isTooLarge(error)) return tracing;
      // The first block was never executed, and geth says so.
      if (error instanceof NodeError && newest.height === 0) return tracing;
      throw error;
    }
  }
  return 'none';
}

/** Without tracing payments would be missed, and nobody would know. */
export function requireTracing(tracing: Tracing): void {
  if (tracing !== 'none') return;
  throw new UnsafeChainError(
    'the node can trace neither by trace_block nor by debug_traceBlockByHash: payments that contracts make, such as those of exchanges, would be missed. Turn its trace or debug interface on',
  );
}

/** The method is not there, or turned off; each make of node has its own words and number for it. */
function isMethodUnavailable(error: unknown): boolean {
  if (!(error instanceof NodeError)) return false;
  return [-32601, -32600, -32004].includes(error.code) || /method|namespace|module/i.test(error.message);
}

/** What moved in this block. Throws NodeError where the node cannot say it, any more or at all. */
export async function traceBlock(node: EvmNode, tracing: Tracing, head: EvmBlockHead): Promise<Movement[]> {
  if (tracing === 'none') throw new Error('the node cannot trace');
  return tracing === 'traces'
    ? movementsFromTraces(await node.traceBlock(head.height), head)
    : movementsFromFrames(await node.traceBlockCalls(head.hash), head);
}

export interface TracedMovements {
  readonly movements: readonly Movement[];
  /** The node cannot trace its block: there may be more than these. */
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

  /** Of each block in turn. */
  async readBlocks(heads: readonly EvmBlockHead[]): Promise<(readonly Movement[])[]> {
    return await mapInChunks(heads, TRACE_CONCURRENCY, (head) => this.#readBlock(head));
  }

  async #readBlock(head: EvmBlockHead): Promise<readonly Movement[]> {
    const tracing = this.#tracing();
    if (head.txids.length === 0) return [];
    // Not asked for whole again: that would take a poll's time each time.
    if (tracing !== 'none' && this.#largeBlocks.isInProgress(head))
      return await this.#largeBlocks.readMovements(tracing, head);
    try {
      return await traceBlock(this.#node, tracing, head);
    } catch (error) {
      // Nodes have many words for a block that is too much for them.
      if (!isRequestFailure(error) || tracing === 'none') throw error;
      return await this.#largeBlocks.readMovements(tracing, head);
    }
  }

  /** Of these transactions, each in its block, that succeeded; by transaction. */
  async readTransactions(
    found: readonly { readonly head: EvmBlockHead; readonly receipt: { readonly txid: string } }[],
  ): Promise<ReadonlyMap<string, TracedMovements>> {
    const told = new Map<string, TracedMovements>();
    const unknown = new Map<string, { readonly head: EvmBlockHead; readonly txids: string[] }>();
    for (const {
      head,
      receipt: { txid },
    } of found) {
      const kept = this.#cache.get(cacheKey(txid, head));
      if (kept) told.set(txid, { movements: kept, isPartial: false });
      else unknown.set(head.hash, { head, txids: [...(unknown.get(head.hash)?.txids ?? []), txid] });
    }
    await mapInChunks([...unknown.values()], TRACE_CONCURRENCY, async ({ head, txids }) => {
      for (const [txid, each] of await this.#readInBlock(head, txids)) told.set(txid, each);
    });
    return told;
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

  /** Null where the node cannot tell, any more or at all. */
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
