/**
 * Movements of ether, from the responses of both trace APIs: traces are a flat list of calls or a tree of
 * frames per transaction, and balance changes are a state diff or a prestate.
 *
 * Value moves in calls and when a contract self-destructs. A failed call moves nothing, and neither do calls
 * inside it, even if they succeeded. Delegate calls repeat the value of their outer call. The trace of a
 * block must include every transaction; otherwise payments would be missed.
 *
 * Unlike a trace, balance changes don't repeat call data, and making them long costs gas, so they work for
 * transactions whose trace is too long. Several payments to one address in a transaction appear as their sum.
 */
import {
  asArray,
  asHexAddress,
  asHexBigInt,
  asHexHash,
  asObject,
  type JsonObject,
  optionalObject,
} from '../json-values.ts';
import type { Movement } from './movement.ts';
import type { EvmBlockHead } from './node.ts';

/** Reads `trace_block`. Throws if the traces belong to another block or are incomplete. */
export function movementsFromTraces(answer: unknown, head: EvmBlockHead): Movement[] {
  const traces = asArray(answer, 'traces').map((trace) => asObject(trace, 'trace'));
  // Block rewards belong to no transaction.
  const ofTransactions = traces.filter(({ transactionHash }) => typeof transactionHash === 'string');
  const failed = new Set<string>();
  const traced = new Set<string>();
  for (const trace of ofTransactions) {
    if (asHexHash(trace.blockHash, 'block') !== head.hash) {
      throw new Error('the chain changed during the read');
    }
    if (typeof trace.error === 'string') failed.add(tracePathKey(trace));
    if (tracePath(trace).length === 0) traced.add(asHexHash(trace.transactionHash, 'transaction'));
  }
  requireAllTraced(head, traced);
  // Filter afterward, because some nodes list inner calls before the outer one.
  return ofTransactions
    .filter((trace) => !isReverted(trace, failed))
    .flatMap((trace) => traceMovements(trace));
}

/** Reads `trace_transaction`. */
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
  return asArray(trace.traceAddress, 'trace address');
}

function tracePathKey(trace: JsonObject, depth = tracePath(trace).length): string {
  return `${trace.transactionHash} ${tracePath(trace).slice(0, depth).join(' ')}`;
}

/** Whether the call or any call that contains it failed. */
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

/** Reads `debug_traceBlockByHash` with `callTracer`. Throws if it doesn't cover the whole block. */
export function movementsFromFrames(answer: unknown, head: EvmBlockHead): Movement[] {
  const transactions = asArray(answer, 'transactions').map((each) => asObject(each, 'transaction'));
  if (transactions.length !== head.txids.length) {
    throw new Error(`the node traced ${transactions.length} of ${head.txids.length} transactions of a block`);
  }
  return head.txids.flatMap((txid, i) => {
    const { txHash, result } = transactions[i] ?? {};
    // Older nodes leave out the txid; the order is that of the block.
    if (txHash !== undefined && asHexHash(txHash, 'transaction') !== txid) {
      throw new Error('the node traced the block in a different order');
    }
    // A transaction that took too long has an error instead of a result.
    return collectFrameMovements(txid, asObject(result, 'transaction trace'));
  });
}

/** Reads `debug_traceTransaction` with `callTracer`. */
export function movementsFromFrame(answer: unknown, txid: string): Movement[] {
  return collectFrameMovements(txid, asObject(answer, 'transaction trace'));
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
  const amountUnits = value === undefined || value === null ? 0n : asHexBigInt(value, 'amount');
  return amountUnits === 0n ? [] : [{ txid, to: asHexAddress(to, 'payee'), amountUnits }];
}

/** Reads `stateDiff` of `trace_replayTransaction`: `=` unchanged, `+` new, `-` deleted, `*` changed. */
export function movementsFromStateDiff(answer: unknown, txid: string): Movement[] {
  const { stateDiff } = asObject(answer, 'transaction replay');
  return Object.entries(asObject(stateDiff, 'state diff')).flatMap(([address, account]) => {
    const { balance } = asObject(account, 'account');
    return balance === '='
      ? []
      : movementIfPositive(txid, address, balanceIncrease(asObject(balance, 'balance change')));
  });
}

function balanceIncrease(change: JsonObject): bigint {
  const { '+': added, '*': changed } = change;
  if (added !== undefined) return asHexBigInt(added, 'balance');
  if (changed === undefined) return 0n;
  const { from, to } = asObject(changed, 'balance change');
  return asHexBigInt(to, 'balance') - asHexBigInt(from, 'balance');
}

/** Reads `prestateTracer` in diff mode: changed fields, before and after. `pre` lacks new accounts. */
export function movementsFromPrestate(answer: unknown, txid: string): Movement[] {
  const { pre, post } = asObject(answer, 'prestate diff');
  const before = asObject(pre, 'state before the transaction');
  return Object.entries(asObject(post, 'state after the transaction')).flatMap(([address, account]) => {
    const { balance } = asObject(account, 'account');
    if (balance === undefined) return [];
    const { balance: previous = '0x0' } = optionalObject(before[address], 'account') ?? {};
    const increase = asHexBigInt(balance, 'balance') - asHexBigInt(previous, 'balance');
    return movementIfPositive(txid, address, increase);
  });
}

function movementIfPositive(txid: string, address: string, amountUnits: bigint): Movement[] {
  return amountUnits > 0n ? [{ txid, to: asHexAddress(address, 'account'), amountUnits }] : [];
}
