/** What addresses of Ethereum and of Tron are made of: the last twenty bytes of the Keccak of a public key. */
import { ECDH } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { keccak256Reference } from './keccak-reference.ts';

const HASH_BYTES = 20;

/** Computed twice, by different code: what nobody has the key of is given to nobody. `publicKey` is compressed. */
export function publicKeyHash(publicKey: Uint8Array): Uint8Array {
  const first = keccak_256(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1));
  const second = keccak256Reference(uncompressKey(publicKey).subarray(1));
  if (Buffer.compare(first, second) !== 0) throw new Error('two computations of an address differ');
  return first.subarray(-HASH_BYTES);
}

function uncompressKey(publicKey: Uint8Array): Uint8Array {
  const bytes = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed');
  if (typeof bytes === 'string') throw new Error('a key was written as text');
  return bytes;
}
