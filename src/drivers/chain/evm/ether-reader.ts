/**
 * Reads what moved in ether. Such transfers have no logs: a contract may pay an address without a transaction
 * to it, as exchanges do for batch payouts. Only executing the block again reveals that, so the node must be
 * able to trace. A block is read in the first of these ways that works:
 *
 * 1. By its trace.
 * 2. By the trace of each transaction, if the block's is longer than `TRACE_MAX_BYTES` or slower than
 *    `TRACE_TIMEOUT_MS` of `node.ts` (`large-block.ts`).
 * 3. A transaction whose trace is too long: by the increases of balances in it.
 * 4. If the node can't report those either: by the payment that the transaction itself declares.
 */
import pMap from 'p-map';
import { BoundedMap } from '../../../kernel/bounded-map.ts';
import { nullForNodeError } from '../node-http.ts';
import { declaredMovements, LargeBlockReader } from './large-block.ts';
import type { IncludedReceipt, Movement, MovementReader, ReadMovements } from './movement.ts';
import type { EvmBlockHead, EvmNode } from './node.ts';
import { detectTraceApi, isRequestFailure, type TraceApi } from './trace-apis.ts';

/** Blocks traced concurrently: each costs the node about as much as its first execution, and memory here. */
export const TRACE_CONCURRENCY = 2;
/** Transactions whose movements are cached: in a given block they never change. */
const CACHE_MAX = 2_000;

export class EtherReader implements MovementReader {
  readonly #node: EvmNode;
  readonly #largeBlocks: LargeBlockReader;
  readonly #cache = new BoundedMap<string, readonly Movement[]>(CACHE_MAX);
  #api: TraceApi | null = null;

  /** `onUnreadable` receives a log line for each transaction that could not be read completely. */
  constructor(node: EvmNode, onUnreadable: (line: string) => void = () => undefined) {
    this.#node = node;
    this.#largeBlocks = new LargeBlockReader(node, onUnreadable);
  }

  /** How the node traces; null: it cannot, or that is not known yet. */
  get api(): TraceApi | null {
    return this.#api;
  }

  /** Finds out how the node traces, once per safety check. */
  async detectApi(): Promise<TraceApi | null> {
    this.#api = await detectTraceApi(this.#node);
    return this.#api;
  }

  async readBlocks(heads: readonly EvmBlockHead[]): Promise<(readonly Movement[])[]> {
    return await pMap(heads, (head) => this.#readBlock(head), { concurrency: TRACE_CONCURRENCY });
  }

  async #readBlock(head: EvmBlockHead): Promise<readonly Movement[]> {
    if (head.txids.length === 0) return [];
    const api = this.#api;
    if (api === null) throw new Error('the node cannot trace');
    // Don't request the whole block again: that would use up each poll's time.
    if (this.#largeBlocks.isInProgress(head)) return await this.#largeBlocks.read(api, head);
    try {
      return await api.readBlock(this.#node, head);
    } catch (error) {
      // Nodes report an oversized block in many ways.
      if (isRequestFailure(error)) return await this.#largeBlocks.read(api, head);
      throw error;
    }
  }

  async readTransactions(found: readonly IncludedReceipt[]): Promise<ReadonlyMap<string, ReadMovements>> {
    const results = new Map<string, ReadMovements>();
    const unknown: IncludedReceipt[] = [];
    for (const each of found) {
      const { txid } = each.receipt;
      const cached = this.#cache.get(cacheKey(txid, each.head));
      if (cached) results.set(txid, { movements: cached, isPartial: false });
      else unknown.push(each);
    }
    const heads = new Map(unknown.map(({ head }) => [head.hash, head])).values();
    const readBlock = (head: EvmBlockHead) => {
      const inBlock = unknown.filter((each) => each.head.hash === head.hash);
      return this.#readInBlock(
        head,
        inBlock.map(({ receipt }) => receipt.txid),
      );
    };
    const read = await pMap(heads, readBlock, { concurrency: TRACE_CONCURRENCY });
    return new Map([...results, ...read.flat()]);
  }

  async #readInBlock(head: EvmBlockHead, txids: readonly string[]): Promise<[string, ReadMovements][]> {
    // Null: the node can't trace the block, or no longer can.
    const traced = this.#api && (await this.#readBlock(head).catch(nullForNodeError()));
    const movements = traced ?? (await declaredMovements(this.#node, txids));
    return txids.map((txid) => {
      const own = movements.filter((each) => each.txid === txid);
      if (traced) this.#cache.set(cacheKey(txid, head), own);
      return [txid, { movements: own, isPartial: traced === null }];
    });
  }
}

function cacheKey(txid: string, head: EvmBlockHead): string {
  return `${head.hash} ${txid}`;
}
