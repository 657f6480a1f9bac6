/**
 * A wallet that reads old blocks again, because it was made anew or put back, does not know yet what it will know in an hour: what it
 * lacks would be taken for removed, and credits be reversed for nothing. Nothing is asked of it until it is done.
 */

import type { JsonRpc } from '../json-rpc.ts';
import { asObject, asUint } from '../json-values.ts';

export class WalletRescanning extends Error {
  override readonly name = 'WalletScans';
  override readonly message = 'the node’s wallet is reading old blocks again: it is waited for';
}

/** Of what `getwalletinfo` answers. */
export function isRescanning(walletInfo: unknown): boolean {
  const { scanning } = asObject(walletInfo, 'the wallet');
  return typeof scanning === 'object' && scanning !== null;
}

/** The height of the newest block. Throws WalletScans. */
export async function heightUnlessRescanning(rpc: JsonRpc): Promise<number> {
  const [height, walletInfo] = await rpc.batch([
    { method: 'getblockcount', params: [] },
    { method: 'getwalletinfo', params: [] },
  ]);
  if (isRescanning(walletInfo)) throw new WalletRescanning();
  return asUint(height, 'the newest block’s height');
}
