/** Calls to a node of Bitcoin's family that several parts make, and its own numbers of errors. */

import type { JsonRpc, RpcCall } from '../json-rpc.ts';
import { asDate, asInteger, asObject, asUint, optionalString } from '../json-values.ts';

/** No such transaction, block or address. */
export const NOT_FOUND = -5;
/** Among others: an orphaned block whose contents it no longer has. */
export const INTERNAL_ERROR = -32_603;
export const METHOD_NOT_FOUND = -32_601;
export const WALLET_NOT_FOUND = -18;
export const WALLET_NOT_SPECIFIED = -19;

/** The longest of all, 4 MB, as a node writes it: its bytes, their digits, and what they mean. */
export const TRANSACTION_MAX_BYTES = 32 * 1024 ** 2;

export interface Header {
  readonly height: number;
  readonly time: Date;
  /** Below 0: it is not in the chain. */
  readonly confirmations: number;
  /** Null of the first block. */
  readonly parentHash: string | null;
}

export async function getBlockHeader(rpc: JsonRpc, hash: string): Promise<Header> {
  const header = asObject(await rpc.call('getblockheader', [hash]), 'a block’s header');
  return {
    height: asUint(header.height, 'a block’s height'),
    time: asDate(header.time, 'a block’s time'),
    confirmations: asInteger(header.confirmations, 'a block’s confirmations'),
    parentHash: optionalString(header.previousblockhash, 'the block before'),
  };
}

/** As `settled`, of what holds transactions whole: those that are too large together are asked for in parts. */
export async function batchSettledLarge(rpc: JsonRpc, calls: readonly RpcCall[]): Promise<unknown[]> {
  return await rpc.batchSettled(calls, { maxBytes: TRANSACTION_MAX_BYTES });
}
