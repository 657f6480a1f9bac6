/**
 * Parses the wallet's view of transactions into outputs. Coinbase outputs and outgoing payments are left out.
 *
 * Litecoin has a trap. Payments out of its extension blocks (MWEB) come in one transaction per block that
 * miners assemble. The wallet calls it `immature`, like a coinbase; only the missing `generated` flag tells
 * them apart. The payer's own transaction is listed too, without an output number: it is the same money and
 * is left out. After a reorganization the payout is in a different transaction.
 */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { Observation, ObservationState } from '../../../ports/chain.ts';
import { asArray, asDate, asInteger, asObject, asString, asUint, type JsonObject } from '../json-values.ts';
import { DECIMALS } from './networks.ts';

/** A payment this deep is final: the network itself lets coinbase outputs be spent after this many blocks. */
export const FINAL_CONFIRMATIONS = 100;

export interface Output {
  readonly key: string;
  readonly txid: string;
  readonly address: string;
  readonly amountUnits: bigint;
  /** Negative: a conflicting transaction is that deep. 0: in no block. */
  readonly confirmations: number;
  readonly block: { readonly hash: string; readonly height: number; readonly time: Date } | null;
}

/** Parses `listsinceblock` and `listtransactions`: each entry is one output with its transaction's block. */
export function parseListedOutputs(entries: unknown): Output[] {
  return asArray(entries, 'payments')
    .map((entry) => asObject(entry, 'payment'))
    .flatMap((entry) => parseOutput(entry, entry));
}

/** Parses `gettransaction`. */
export function parseTransactionOutputs(transaction: JsonObject): Output[] {
  return asArray(transaction.details, 'transaction details').flatMap((detail) =>
    parseOutput(asObject(detail, 'payment'), transaction),
  );
}

function parseOutput(paid: JsonObject, transaction: JsonObject): Output[] {
  const { category, address, vout } = paid;
  if (category === 'send' || transaction.generated === true) return [];
  if (typeof address !== 'string' || typeof vout !== 'number') return [];
  const txid = asString(transaction.txid, 'transaction id');
  const confirmations = asInteger(transaction.confirmations, 'transaction confirmations');
  const block =
    confirmations > 0
      ? {
          hash: asString(transaction.blockhash, 'block hash'),
          height: asUint(transaction.blockheight, 'block height'),
          time: asDate(transaction.blocktime, 'block time'),
        }
      : null;
  const amountUnits = parseCoinAmount(paid.amount, DECIMALS);
  return [{ key: outputKey(txid, vout), txid, address, amountUnits, confirmations, block }];
}

/** Newer nodes return one address, older ones a list. Returns null if the script has none or several. */
export function scriptAddress(script: JsonObject): string | null {
  const { address, addresses } = script;
  if (typeof address === 'string') return address;
  return Array.isArray(addresses) && addresses.length === 1 ? asString(addresses[0], 'address') : null;
}

export function outputKey(txid: string, vout: number): string {
  return `${txid}:${vout}`;
}

/** `unconfirmedState` applies to an output that is in no block. */
export function toObservation(
  output: Output,
  unconfirmedState: 'mempool' | 'conflicted' | 'removed',
): Observation {
  const { key, txid, address, amountUnits, confirmations, block } = output;
  return {
    key,
    txid,
    address,
    amountUnits,
    state: stateOf(confirmations, unconfirmedState),
    confirmations: Math.max(0, confirmations),
    height: block?.height ?? null,
    blockHash: block?.hash ?? null,
    blockTime: block?.time ?? null,
    agreed: true,
  };
}

function stateOf(confirmations: number, unconfirmedState: ObservationState): ObservationState {
  if (confirmations < 0) return 'conflicted';
  if (confirmations === 0) return unconfirmedState;
  return confirmations >= FINAL_CONFIRMATIONS ? 'final' : 'included';
}
