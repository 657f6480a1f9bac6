/**
 * What the wallet tells of transactions, output by output. Newly made coins are nobody's payment, and what was sent is not ours.
 *
 * Litecoin has a trap. What is paid out of its extension blocks (MWEB) comes in a transaction that miners put together, one for all of a
 * block: the wallet calls it `immature`, as if it were newly made, and only that it is not `generated` tells. The payer's own transaction
 * is told as well, without the number of an output: it is the same money, and is left out. In another block it is another transaction.
 */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { Observation, ObservationState } from '../../../ports/chain.ts';
import { asArray, asDate, asInteger, asObject, asString, asUint, type JsonObject } from '../json-values.ts';
import { DECIMALS } from './networks.ts';

/** What may not be changed any more: the network itself lets new coins be spent after as many blocks. */
export const FINAL_CONFIRMATIONS = 100;

export interface Output {
  readonly key: string;
  readonly txid: string;
  readonly address: string;
  readonly amountUnits: bigint;
  /** Below 0: a transaction that is so deep spent its coins otherwise. 0: in no block. */
  readonly confirmations: number;
  readonly block: { readonly hash: string; readonly height: number; readonly time: Date } | null;
}

/** Of `listsinceblock` and `listtransactions`: each entry is one output, with its transaction's place. */
export function parseListedOutputs(entries: unknown): Output[] {
  return asArray(entries, 'payments')
    .map((entry) => asObject(entry, 'a payment'))
    .flatMap((entry) => parseOutput(entry, entry));
}

/** Of `gettransaction`. */
export function parseTransactionOutputs(transaction: JsonObject): Output[] {
  return asArray(transaction.details, 'the payments of a transaction').flatMap((detail) =>
    parseOutput(asObject(detail, 'a payment'), transaction),
  );
}

function parseOutput(paid: JsonObject, transaction: JsonObject): Output[] {
  const { category, address, vout } = paid;
  if (category === 'send' || transaction.generated === true) return [];
  if (typeof address !== 'string' || typeof vout !== 'number') return [];
  const txid = asString(transaction.txid, 'a transaction’s id');
  const confirmations = asInteger(transaction.confirmations, 'a transaction’s confirmations');
  const block =
    confirmations > 0
      ? {
          hash: asString(transaction.blockhash, 'a block’s hash'),
          height: asUint(transaction.blockheight, 'a block’s height'),
          time: asDate(transaction.blocktime, 'a block’s time'),
        }
      : null;
  const amountUnits = parseCoinAmount(paid.amount, DECIMALS);
  return [{ key: outputKey(txid, vout), txid, address, amountUnits, confirmations, block }];
}

/** Newer nodes write one address, older ones a list; null where the script has none, or several. */
export function scriptAddress(script: JsonObject): string | null {
  const { address, addresses } = script;
  if (typeof address === 'string') return address;
  return Array.isArray(addresses) && addresses.length === 1 ? asString(addresses[0], 'an address') : null;
}

export function outputKey(txid: string, vout: number): string {
  return `${txid}:${vout}`;
}

/** `outside`: what it is where it is in no block. */
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
