/** The basis of Ethereum and Tron addresses: the last 20 bytes of a public key's Keccak hash. */
import { ECDH } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { keccak256Reference } from './keccak-reference.ts';

const HASH_BYTES = 20;

/**
 * Computed twice by different code, so that a bug never assigns an address without a key. `publicKey` is
 * compressed.
 */
export function publicKeyHash(publicKey: Uint8Array): Uint8Array {
  const first = keccak_256(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1));
  const second = keccak256Reference(uncompressKey(publicKey).subarray(1));
  if (Buffer.compare(first, second) !== 0) throw new Error("two computations of an address don't match");
  return first.subarray(-HASH_BYTES);
}

function uncompressKey(publicKey: Uint8Array): Uint8Array {
  const bytes = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed');
  if (typeof bytes === 'string') throw new Error('the key was converted to text');
  return bytes;
}
