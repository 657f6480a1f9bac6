/**
 * Where ether went in a block, as nodes tell it in either of two ways: a flat list of what was called (`trace_block`: Erigon,
 * Nethermind, Reth, Besu), or a tree for each transaction (`callTracer`: geth and most others).
 *
 * Value moves by calls and when a contract destroys itself. A call that failed moves nothing, and neither does what is inside of it,
 * though that may have gone well. Delegated calls repeat the value of the call that they are in. Both ways must tell of every
 * transaction of the block: less would be payments not seen.
 */
import { asArray, asObject, type JsonObject } from '../json-values.ts';
import { asHexAddress, asHexBigInt, asHexHash } from './hex-values.ts';
import type { Movement } from './movement.ts';
import type { EvmBlockHead } from './node.ts';

/** From `trace_block`. Throws where these are traces of another block, or not of all of it. */
export function movementsFromTraces(answer: unknown, head: EvmBlockHead): Movement[] {
  const traces = asArray(answer, 'traces').map((trace) => asObject(trace, 'trace'));
  // Rewards belong to no transaction.
  const ofTransactions = traces.filter(({ transactionHash }) => typeof transactionHash === 'string');
  const failed = new Set<string>();
  const whole = new Set<string>();
  for (const trace of ofTransactions) {
    if (asHexHash(trace.blockHash, 'block') !== head.hash) {
      throw new Error('the chain changed while it was read');
    }
    if (typeof trace.error === 'string') failed.add(tracePathKey(trace));
    if (tracePath(trace).length === 0) whole.add(asHexHash(trace.transactionHash, 'transaction'));
  }
  requireAllTraced(head, whole);
  // Some list what is inside before what it is inside of.
  return ofTransactions
    .filter((trace) => !isReverted(trace, failed))
    .flatMap((trace) => traceMovements(trace));
}

/** From `trace_transaction`. */
export function movementsFromTrace(answer: unknown, txid: string, head: EvmBlockHead): Movement[] {
  return movementsFromTraces(answer, { ...head, txids: [txid] }).filter((each) => each.txid === txid);
}

function requireAllTraced(head: EvmBlockHead, traced: ReadonlySet<string>): void {
  const missing = head.txids.filter((txid) => !traced.has(txid)).length;
  if (missing > 0) {
    throw new Error(`the node left out ${missing} of ${head.txids.length} transactions of a block`);
  }
}

function tracePath(trace: JsonObject): readonly unknown[] {
  return asArray(trace.traceAddress, 'places in a trace');
}

function tracePathKey(trace: JsonObject, depth = tracePath(trace).length): string {
  return `${trace.transactionHash} ${tracePath(trace).slice(0, depth).join(' ')}`;
}

/** Whether it failed, or anything that it is inside of. */
function isReverted(trace: JsonObject, failed: ReadonlySet<string>): boolean {
  if (failed.size === 0) return false;
  return [...tracePath(trace), null].some((_, depth) => failed.has(tracePathKey(trace, depth)));
}

function traceMovements(trace: JsonObject): Movement[] {
  const action = asObject(trace.action, 'action');
  const txid = asHexHash(trace.transactionHash, 'transaction');
  if (trace.type === 'call' && action.callType === 'call') return toMovements(txid, action.to, action.value);
  if (trace.type === 'suicide' || trace.type === 'selfdestruct') {
    return toMovements(txid, action.refundAddress, action.balance);
  }
  return [];
}

/** From `debug_traceBlockByHash` with `callTracer`. Throws where it does not tell of all of the block. */
export function movementsFromFrames(answer: unknown, head: EvmBlockHead): Movement[] {
  const transactions = asArray(answer, 'transactions').map((each) => asObject(each, 'transaction'));
  if (transactions.length !== head.txids.length) {
    throw new Error(`the node traced ${transactions.length} of ${head.txids.length} transactions of a block`);
  }
  return head.txids.flatMap((txid, i) => {
    const { txHash, result } = transactions[i] ?? {};
    // Older ones do not name it; it is where the block has it.
    if (txHash !== undefined && asHexHash(txHash, 'transaction') !== txid) {
      throw new Error('the node traced a block in another order');
    }
    // In its place there may be an error: it took too long.
    return collectFrameMovements(txid, asObject(result, 'trace of a transaction'));
  });
}

/** From `debug_traceTransaction` with `callTracer`. */
export function movementsFromFrame(answer: unknown, txid: string): Movement[] {
  return collectFrameMovements(txid, asObject(answer, 'trace of a transaction'));
}

function collectFrameMovements(txid: string, top: JsonObject): Movement[] {
  const movements: Movement[] = [];
  const open = [top];
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
    if (typeof frame.error === 'string') continue;
    if (frame.type === 'CALL' || frame.type === 'SELFDESTRUCT') {
      movements.push(...toMovements(txid, frame.to, frame.value));
    }
    if (frame.calls !== undefined) {
      open.push(...asArray(frame.calls, 'calls').map((call) => asObject(call, 'call')));
    }
  }
  return movements;
}

function toMovements(txid: string, to: unknown, value: unknown): Movement[] {
  const amountUnits = value === undefined || value === null ? 0n : asHexBigInt(value, 'an amount');
  return amountUnits === 0n ? [] : [{ txid, to: asHexAddress(to, 'payee'), amountUnits }];
}
