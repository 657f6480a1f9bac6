/** Keys of simulated networks are made of seeds. No real driver reaches anything that holds one. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { hex } from '@scure/base';

const ED25519_PKCS8 = hex.decode('302e020100300506032b657004220420');

/** The ed25519 public key of a 32-byte seed: a real point of the curve, which wallets check. */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  const key = Buffer.concat([ED25519_PKCS8, seed]);
  const jwk = createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  });
  return Buffer.from(jwk.x ?? '', 'base64url');
}
