/**
 * What a transaction changed, as nodes tell it in either of two ways: `stateDiff` of `trace_replayTransaction`, or `prestateTracer` in its
 * mode of differences. Unlike a trace it does not repeat what calls were given, and whoever makes it long pays for it: it is what a
 * transaction with a very long trace is read by. An address that was paid several times in one transaction has their sum here.
 */
import { asObject, type JsonObject, optionalObject } from '../json-values.ts';
import { asHexAddress, asHexBigInt } from './hex-values.ts';
import type { Movement } from './movement.ts';

/** From `stateDiff`: a balance stays (`=`), is new (`+`), gone (`-`), or another (`*`). */
export function movementsFromStateDiff(answer: unknown, txid: string): Movement[] {
  const { stateDiff } = asObject(answer, 'replay of a transaction');
  return Object.entries(asObject(stateDiff, 'changes of a transaction')).flatMap(([address, account]) => {
    const { balance } = asObject(account, 'account');
    return balance === '='
      ? []
      : movementIfPositive(txid, address, balanceIncrease(asObject(balance, 'change of a balance')));
  });
}

function balanceIncrease(change: JsonObject): bigint {
  const { '+': born, '*': other } = change;
  if (born !== undefined) return asHexBigInt(born, 'balance');
  if (other === undefined) return 0n;
  const { from, to } = asObject(other, 'change of a balance');
  return asHexBigInt(to, 'balance') - asHexBigInt(from, 'balance');
}

/** From `prestateTracer`: what changed, as it was before and is now. An account that is new was nothing before. */
export function movementsFromPrestate(answer: unknown, txid: string): Movement[] {
  const { pre, post } = asObject(answer, 'changes of a transaction');
  const before = asObject(pre, 'state before a transaction');
  return Object.entries(asObject(post, 'state after a transaction')).flatMap(([address, account]) => {
    const { balance } = asObject(account, 'account');
    if (balance === undefined) return [];
    const { balance: had = '0x0' } = optionalObject(before[address], 'account') ?? {};
    return movementIfPositive(txid, address, asHexBigInt(balance, 'balance') - asHexBigInt(had, 'balance'));
  });
}

function movementIfPositive(txid: string, address: string, amountUnits: bigint): Movement[] {
  return amountUnits > 0n ? [{ txid, to: asHexAddress(address, 'account'), amountUnits }] : [];
}
