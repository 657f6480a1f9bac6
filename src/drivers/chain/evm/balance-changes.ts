/**
 * The balance changes of a transaction, from either of two methods: `stateDiff` of `trace_replayTransaction`,
 * or `prestateTracer` in diff mode. Unlike a trace, the result doesn't repeat call data, and making it long
 * costs gas, so it works for transactions whose trace is too long. Several payments to one address in a
 * transaction appear as their sum.
 */
import { asObject, type JsonObject, optionalObject } from '../json-values.ts';
import { asHexAddress, asHexBigInt } from './hex-values.ts';
import type { Movement } from './movement.ts';

/** Reads `stateDiff`: a balance is unchanged (`=`), new (`+`), deleted (`-`), or changed (`*`). */
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

/** Reads `prestateTracer`: the changed fields before and after. A new account is missing from `pre`. */
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
