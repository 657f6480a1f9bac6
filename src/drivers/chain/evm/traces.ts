/**
 * Where ether went in a block, as nodes tell it in either of two ways: a flat list of what was called (`trace_block`: Erigon,
 * Nethermind, Reth, Besu), or a tree for each transaction (`callTracer`: geth and most others).
 *
 * Value moves by calls and when a contract destroys itself. A call that failed moves nothing, and neither does what is inside of it,
 * though that may have gone well. Delegated calls repeat the value of the call that they are in. Both ways must tell of every
 * transaction of the block: less would be payments not seen.
 */
import { type Fields, fieldsOf, listOf } from '../answers.ts';
import { addressOf, hexHashOf, hexUnitsOf } from './answers.ts';
import type { Movement } from './movement.ts';
import type { Head } from './node.ts';

/** From `trace_block`. Throws where these are traces of another block, or not of all of it. */
export function movementsOfTraces(answer: unknown, head: Head): Movement[] {
  const traces = listOf(answer, 'traces').map((trace) => fieldsOf(trace, 'trace'));
  // Rewards belong to no transaction.
  const ofTransactions = traces.filter(({ transactionHash }) => typeof transactionHash === 'string');
  const failed = new Set<string>();
  const whole = new Set<string>();
  for (const trace of ofTransactions) {
    if (hexHashOf(trace.blockHash, 'block') !== head.hash) {
      throw new Error('the chain changed while it was read');
    }
    if (typeof trace.error === 'string') failed.add(placeOf(trace));
    if (pathOf(trace).length === 0) whole.add(hexHashOf(trace.transactionHash, 'transaction'));
  }
  requireAll(head, whole);
  // Some list what is inside before what it is inside of.
  return ofTransactions.filter((trace) => !isUndone(trace, failed)).flatMap((trace) => movementOf(trace));
}

/** From `trace_transaction`. */
export function movementsOfTrace(answer: unknown, txid: string, head: Head): Movement[] {
  return movementsOfTraces(answer, { ...head, txids: [txid] }).filter((each) => each.txid === txid);
}

function requireAll(head: Head, traced: ReadonlySet<string>): void {
  const missing = head.txids.filter((txid) => !traced.has(txid)).length;
  if (missing > 0) {
    throw new Error(`the node left out ${missing} of ${head.txids.length} transactions of a block`);
  }
}

function pathOf(trace: Fields): readonly unknown[] {
  return listOf(trace.traceAddress, 'places in a trace');
}

function placeOf(trace: Fields, depth = pathOf(trace).length): string {
  return `${trace.transactionHash} ${pathOf(trace).slice(0, depth).join(' ')}`;
}

/** Whether it failed, or anything that it is inside of. */
function isUndone(trace: Fields, failed: ReadonlySet<string>): boolean {
  if (failed.size === 0) return false;
  return [...pathOf(trace), null].some((_, depth) => failed.has(placeOf(trace, depth)));
}

function movementOf(trace: Fields): Movement[] {
  const action = fieldsOf(trace.action, 'action');
  const txid = hexHashOf(trace.transactionHash, 'transaction');
  if (trace.type === 'call' && action.callType === 'call') return moved(txid, action.to, action.value);
  if (trace.type === 'suicide' || trace.type === 'selfdestruct') {
    return moved(txid, action.refundAddress, action.balance);
  }
  return [];
}

/** From `debug_traceBlockByHash` with `callTracer`. Throws where it does not tell of all of the block. */
export function movementsOfFrames(answer: unknown, head: Head): Movement[] {
  const transactions = listOf(answer, 'transactions').map((each) => fieldsOf(each, 'transaction'));
  if (transactions.length !== head.txids.length) {
    throw new Error(`the node traced ${transactions.length} of ${head.txids.length} transactions of a block`);
  }
  return head.txids.flatMap((txid, i) => {
    const { txHash, result } = transactions[i] ?? {};
    // Older ones do not name it; it is where the block has it.
    if (txHash !== undefined && hexHashOf(txHash, 'transaction') !== txid) {
      throw new Error('the node traced a block in another order');
    }
    // In its place there may be an error: it took too long.
    return movementsIn(txid, fieldsOf(result, 'trace of a transaction'));
  });
}

/** From `debug_traceTransaction` with `callTracer`. */
export function movementsOfFrame(answer: unknown, txid: string): Movement[] {
  return movementsIn(txid, fieldsOf(answer, 'trace of a transaction'));
}

function movementsIn(txid: string, top: Fields): Movement[] {
  const movements: Movement[] = [];
  const open = [top];
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
    if (typeof frame.error === 'string') continue;
    if (frame.type === 'CALL' || frame.type === 'SELFDESTRUCT') {
      movements.push(...moved(txid, frame.to, frame.value));
    }
    if (frame.calls !== undefined) {
      open.push(...listOf(frame.calls, 'calls').map((call) => fieldsOf(call, 'call')));
    }
  }
  return movements;
}

function moved(txid: string, to: unknown, value: unknown): Movement[] {
  const amountUnits = value === undefined || value === null ? 0n : hexUnitsOf(value, 'an amount');
  return amountUnits === 0n ? [] : [{ txid, to: addressOf(to, 'payee'), amountUnits }];
}
