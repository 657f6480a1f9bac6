/** Shared calls to a Bitcoin or Litecoin node, and its error codes. */
import type { JsonRpc, RpcCall } from '../json-rpc.ts';
import { asDate, asInteger, asObject, asUint, optionalString } from '../json-values.ts';

/** Transaction, block, or address not found. */
export const NOT_FOUND = -5;
/** Returned, among others, for an orphaned block whose data is no longer stored. */
export const INTERNAL_ERROR = -32_603;
export const METHOD_NOT_FOUND = -32_601;
export const WALLET_NOT_FOUND = -18;
export const WALLET_NOT_SPECIFIED = -19;

/** The largest transaction, 4 MB, as JSON: its hex digits plus the decoded fields. */
export const TRANSACTION_MAX_BYTES = 32 * 1024 ** 2;

export interface Header {
  readonly height: number;
  readonly time: Date;
  /** Negative: not on the active chain. */
  readonly confirmations: number;
  /** Null for the genesis block. */
  readonly parentHash: string | null;
}

export async function getBlockHeader(rpc: JsonRpc, hash: string): Promise<Header> {
  const header = asObject(await rpc.call('getblockheader', [hash]), 'block header');
  return {
    height: asUint(header.height, 'block height'),
    time: asDate(header.time, 'block time'),
    confirmations: asInteger(header.confirmations, 'block confirmations'),
    parentHash: optionalString(header.previousblockhash, 'parent hash'),
  };
}

/** Like `batchSettled`, for whole transactions: a batch that is too large is split. */
export async function batchSettledLarge(rpc: JsonRpc, calls: readonly RpcCall[]): Promise<unknown[]> {
  return await rpc.batchSettled(calls, { maxBytes: TRANSACTION_MAX_BYTES });
}

/**
 * A wallet that is rescanning old blocks, because it is new or was restored, doesn't know all payments yet:
 * the missing ones would look removed and their credits would be reversed. The driver waits until the rescan
 * is done.
 */
export class WalletRescanning extends Error {
  override readonly name = 'WalletRescanning';
  override readonly message = 'the node’s wallet is rescanning old blocks; waiting for it to finish';
}

/** Reads the state from a `getwalletinfo` response. */
export function isRescanning(walletInfo: unknown): boolean {
  const { scanning } = asObject(walletInfo, 'wallet info');
  return typeof scanning === 'object' && scanning !== null;
}

/** Returns the height of the newest block. Throws WalletRescanning. */
export async function heightUnlessRescanning(rpc: JsonRpc): Promise<number> {
  const [height, walletInfo] = await rpc.batch([
    { method: 'getblockcount', params: [] },
    { method: 'getwalletinfo', params: [] },
  ]);
  if (isRescanning(walletInfo)) throw new WalletRescanning();
  return asUint(height, 'tip height');
}
