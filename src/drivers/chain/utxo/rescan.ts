/**
 * A wallet that is rescanning old blocks, because it is new or was restored, doesn't know all payments yet:
 * the missing ones would look removed and their credits would be reversed. The driver waits until the rescan
 * is done.
 */

import type { JsonRpc } from '../json-rpc.ts';
import { asObject, asUint } from '../json-values.ts';

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
