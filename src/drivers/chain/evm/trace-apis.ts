/**
 * The two APIs that nodes trace with: `trace_…` (Erigon, Nethermind, Reth, Besu) and `debug_trace…` (geth and
 * most others). Here is which calls they take, which of them a node has, and how it reports a failure.
 */
import { UnsafeChainError } from '../../../ports/chain.ts';
import { NodeError, NodeResponseTooLarge, NodeTimeout } from '../node-http.ts';
import type { Movement } from './movement.ts';
import { type EvmBlockHead, type EvmNode, hexHeight } from './node.ts';
import {
  movementsFromFrame,
  movementsFromFrames,
  movementsFromPrestate,
  movementsFromStateDiff,
  movementsFromTrace,
  movementsFromTraces,
} from './trace-responses.ts';

export interface TraceApi {
  readBlock(node: EvmNode, head: EvmBlockHead): Promise<Movement[]>;
  /** `head` is the block of the transaction. */
  readTransaction(node: EvmNode, txid: string, head: EvmBlockHead): Promise<Movement[]>;
  /** Reads the increases of balances in a transaction, for one whose trace is too long. */
  readIncreases(node: EvmNode, txid: string): Promise<Movement[]>;
}

const CALLS = { tracer: 'callTracer' };
/** Newer nodes can leave out contract code and storage. */
const BALANCES = {
  tracer: 'prestateTracer',
  tracerConfig: { diffMode: true, disableCode: true, disableStorage: true },
};

const DEBUG_API: TraceApi = {
  readBlock: async (node, head) =>
    movementsFromFrames(await node.trace('debug_traceBlockByHash', [head.hash, CALLS]), head),
  readTransaction: async (node, txid) =>
    movementsFromFrame(await node.trace('debug_traceTransaction', [txid, CALLS]), txid),
  readIncreases: async (node, txid) =>
    movementsFromPrestate(await node.trace('debug_traceTransaction', [txid, BALANCES]), txid),
};

const TRACE_API: TraceApi = {
  readBlock: async (node, head) =>
    movementsFromTraces(await node.trace('trace_block', [hexHeight(head.height)]), head),
  readTransaction: async (node, txid, head) =>
    movementsFromTrace(await node.trace('trace_transaction', [txid]), txid, head),
  readIncreases: async (node, txid) => {
    try {
      const replayed = await node.trace('trace_replayTransaction', [txid, ['stateDiff']]);
      return movementsFromStateDiff(replayed, txid);
    } catch (error) {
      if (error instanceof NodeError) return await DEBUG_API.readIncreases(node, txid);
      throw error;
    }
  },
};

/**
 * Tries the APIs with the newest block. Returns null if the node has neither, and throws if tracing fails for
 * another reason.
 */
export async function detectTraceApi(node: EvmNode): Promise<TraceApi | null> {
  const newest = await node.newest();
  for (const api of [TRACE_API, DEBUG_API]) {
    try {
      await api.readBlock(node, newest);
      return api;
    } catch (error) {
      if (isMethodUnavailable(error)) continue;
      // It can trace, but this block's trace is too large.
      if (isTooLarge(error)) return api;
      // geth reports an error for the genesis block, because it was never executed.
      if (error instanceof NodeError && newest.height === 0) return api;
      throw error;
    }
  }
  return null;
}

/** Refuses a node without tracing: payments would be missed silently. */
export function requireTracing(api: TraceApi | null): void {
  if (api !== null) return;
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

/** Error codes for a response that is too long: reth and others, and geth. */
const TOO_LARGE_CODES = [-32_008, -32_003];

/** Whether the response was too large, in any of the ways that nodes report it. */
export function isTooLarge(error: unknown): boolean {
  return (
    error instanceof NodeResponseTooLarge ||
    (error instanceof NodeError && TOO_LARGE_CODES.includes(error.code))
  );
}

/** Whether the failure concerns this request, so that another block or transaction may still be readable. */
export function isRequestFailure(error: unknown): error is Error {
  return error instanceof NodeError || error instanceof NodeResponseTooLarge || error instanceof NodeTimeout;
}
