/**
 * What a transaction changed, as nodes tell it in either of two ways: `stateDiff` of `trace_replayTransaction`, or `prestateTracer` in its
 * mode of differences. Unlike a trace it does not repeat what calls were given, and whoever makes it long pays for it: it is what a
 * transaction with a very long trace is read by. An address that was paid several times in one transaction has their sum here.
 */
import { type Fields, fieldsOf, maybeFields } from '../answers.ts';
import { addressOf, hexUnitsOf } from './answers.ts';
import type { Movement } from './movement.ts';

/** From `stateDiff`: a balance stays (`=`), is new (`+`), gone (`-`), or another (`*`). */
export function movementsOfDiff(answer: unknown, txid: string): Movement[] {
  const { stateDiff } = fieldsOf(answer, 'replay of a transaction');
  return Object.entries(fieldsOf(stateDiff, 'changes of a transaction')).flatMap(([address, account]) => {
    const { balance } = fieldsOf(account, 'account');
    return balance === '=' ? [] : risen(txid, address, riseOf(fieldsOf(balance, 'change of a balance')));
  });
}

function riseOf(change: Fields): bigint {
  const { '+': born, '*': other } = change;
  if (born !== undefined) return hexUnitsOf(born, 'balance');
  if (other === undefined) return 0n;
  const { from, to } = fieldsOf(other, 'change of a balance');
  return hexUnitsOf(to, 'balance') - hexUnitsOf(from, 'balance');
}

/** From `prestateTracer`: what changed, as it was before and is now. An account that is new was nothing before. */
export function movementsOfStates(answer: unknown, txid: string): Movement[] {
  const { pre, post } = fieldsOf(answer, 'changes of a transaction');
  const before = fieldsOf(pre, 'state before a transaction');
  return Object.entries(fieldsOf(post, 'state after a transaction')).flatMap(([address, account]) => {
    const { balance } = fieldsOf(account, 'account');
    if (balance === undefined) return [];
    const { balance: had = '0x0' } = maybeFields(before[address], 'account') ?? {};
    return risen(txid, address, hexUnitsOf(balance, 'balance') - hexUnitsOf(had, 'balance'));
  });
}

function risen(txid: string, address: string, amountUnits: bigint): Movement[] {
  return amountUnits > 0n ? [{ txid, to: addressOf(address, 'account'), amountUnits }] : [];
}
