/**
 * Derives the keys of simulated networks from seeds. No real driver has access to anything that holds one.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { hex } from '@scure/base';

const ED25519_PKCS8 = hex.decode('302e020100300506032b657004220420');

/**
 * Returns the ed25519 public key of a 32-byte seed: a valid point on the curve, because wallets check that.
 */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  const key = Buffer.concat([ED25519_PKCS8, seed]);
  const jwk = createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  });
  return Buffer.from(jwk.x ?? '', 'base64url');
}
