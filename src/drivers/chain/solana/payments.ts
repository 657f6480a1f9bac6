/** The amount that a Solana transaction paid to an address: its balance after minus its balance before. */
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
 * A finalized block has 31 others on top. Reported for any age, so that two nodes agree: no amount needs
 * more, and it never changes.
 */
export const FINAL_CONFIRMATIONS = 32;

/** Returns 0 if it failed or took something away; null if the node doesn't return the balances. */
function creditedLamports(transaction: JsonObject, address: string): bigint | null {
  const { err, preBalances, postBalances, loadedAddresses } =
    optionalObject(transaction.meta, 'transaction metadata') ?? {};
  if (err === undefined) return null;
  if (err !== null) return 0n;
  const { message } = asObject(transaction.transaction, 'transaction');
  const keys = asArray(asObject(message, 'message').accountKeys, 'accounts');
  // Balances of accounts from lookup tables follow the others.
  const { writable, readonly } = optionalObject(loadedAddresses, 'loaded addresses') ?? {};
  const tables = [writable, readonly].flatMap((each) => optionalArray(each, 'loaded addresses'));
  const at = [...keys, ...tables].indexOf(address);
  const [before, after] = [preBalances, postBalances].map((each) => asArray(each, 'balances')[at]);
  if (at < 0 || before === undefined || after === undefined) return null;
  const change = parseCoinAmount(after, 0) - parseCoinAmount(before, 0);
  return change > 0n ? change : 0n;
}

interface PaymentSource {
  readonly signature: string;
  readonly address: string;
  readonly final: boolean;
}

/** Returns null for an unreadable transaction, so that it doesn't block the others. */
export function parsePayment(transaction: JsonObject, source: PaymentSource): Observation | null {
  try {
    return readPayment(transaction, source);
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
  const slot = asUint(transaction.slot, 'transaction slot');
  if (amountUnits === null) return null;
  const seconds = optionalUint(transaction.blockTime, 'block time');
  const base = { key: `${signature}:${address}`, txid: signature, address, amountUnits, agreed: true };
  if (!final) {
    const noBlock = { height: null, blockHash: null, blockTime: null };
    return { ...base, ...noBlock, state: 'mempool', confirmations: 0 };
  }
  return {
    ...base,
    state: 'final',
    confirmations: FINAL_CONFIRMATIONS,
    height: slot,
    // A finalized slot has one block permanently: its number identifies it without another request.
    blockHash: String(slot),
    blockTime: seconds === null ? null : new Date(seconds * 1000),
  };
}
