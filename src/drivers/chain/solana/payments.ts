/** What a transaction of Solana brought to an address: its balance after, less its balance before. */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { Observation } from '../../../ports/chain.ts';
import {
  asArray,
  asObject,
  asUint,
  type JsonObject,
  optionalArray,
  optionalObject,
  optionalUint,
} from '../json-values.ts';
import { NodeError } from '../node-http.ts';

/**
 * A finalized block has 31 others on it. It is told so whatever its age, so that two nodes say the same: no amount needs more, and
 * it never changes.
 */
export const FINAL_CONFIRMATIONS = 32;

/** 0 where it failed, or took something away. Null where the node does not say what it did. */
export function creditedLamports(transaction: JsonObject, address: string): bigint | null {
  const { err, preBalances, postBalances, loadedAddresses } =
    optionalObject(transaction.meta, 'what a transaction did') ?? {};
  if (err === undefined) return null;
  if (err !== null) return 0n;
  const { message } = asObject(transaction.transaction, 'a transaction’s text');
  const keys = asArray(asObject(message, 'a message').accountKeys, 'accounts');
  // Balances of accounts that came by a table stand after the others.
  const { writable, readonly } = optionalObject(loadedAddresses, 'accounts of a table') ?? {};
  const tables = [writable, readonly].flatMap((each) => optionalArray(each, 'accounts of a table'));
  const at = [...keys, ...tables].indexOf(address);
  const [before, after] = [preBalances, postBalances].map((each) => asArray(each, 'balances')[at]);
  if (at < 0 || before === undefined || after === undefined) return null;
  const change = parseCoinAmount(after, 0) - parseCoinAmount(before, 0);
  return change > 0n ? change : 0n;
}

export function paymentKey(signature: string, address: string): string {
  return `${signature}:${address}`;
}

export interface PaymentSource {
  readonly signature: string;
  readonly address: string;
  readonly final: boolean;
}

/** Null where nothing can be told of it: one that nobody can read keeps no other waiting. */
export function parsePayment(transaction: JsonObject, place: PaymentSource): Observation | null {
  try {
    return readPayment(transaction, place);
  } catch (error) {
    if (error instanceof NodeError) return null;
    throw error;
  }
}

function readPayment(
  transaction: JsonObject,
  { signature, address, final }: PaymentSource,
): Observation | null {
  const amountUnits = creditedLamports(transaction, address);
  const slot = asUint(transaction.slot, 'a transaction’s slot');
  if (amountUnits === null) return null;
  const seconds = optionalUint(transaction.blockTime, 'a block’s time');
  const base = { key: paymentKey(signature, address), txid: signature, address, amountUnits, agreed: true };
  if (!final) {
    const nowhere = { height: null, blockHash: null, blockTime: null };
    return { ...base, ...nowhere, state: 'mempool', confirmations: 0 };
  }
  return {
    ...base,
    state: 'final',
    confirmations: FINAL_CONFIRMATIONS,
    height: slot,
    // A finalized slot holds one block for ever: its number says which, and costs no further question.
    blockHash: String(slot),
    blockTime: seconds === null ? null : new Date(seconds * 1000),
  };
}
