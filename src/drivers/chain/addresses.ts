/** Addresses of all networks: hashed from keys, encoded with checksums, and converted between spellings. */
import { ECDH } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, base58xmr, bech32, createBase58check, hex } from '@scure/base';

const base58check = createBase58check(sha256);

/** Pay to witness public key hash (BIP 173, version 0). `hash` is 20 bytes. */
export function segwitAddress(prefix: string, hash: Uint8Array): string {
  return bech32.encode(prefix, [0, ...bech32.toWords(hash)]);
}

/** Mixed case is the checksum (EIP-55). `hash` is 20 bytes. */
export function evmAddress(hash: Uint8Array): string {
  const digits = hex.encode(hash);
  const check = hex.encode(keccak_256(new TextEncoder().encode(digits)));
  const marked = [...digits].map((digit, i) => ((check[i] ?? '0') >= '8' ? digit.toUpperCase() : digit));
  return `0x${marked.join('')}`;
}

/** `hash` is 20 bytes. */
export function tronAddress(hash: Uint8Array): string {
  return base58check.encode(Uint8Array.of(0x41, ...hash));
}

/** `network` 36 is a stagenet subaddress. The keys are 32-byte points. */
export function moneroAddress(network: number, spendKey: Uint8Array, viewKey: Uint8Array): string {
  const body = Uint8Array.of(network, ...spendKey, ...viewKey);
  return base58xmr.encode(Uint8Array.of(...body, ...keccak_256(body).subarray(0, 4)));
}

export function solanaAddress(publicKey: Uint8Array): string {
  return base58.encode(publicKey);
}

/** The public key of the private key 1, and its hash, which everyone knows. */
const KNOWN_KEY = hex.decode('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798');
const KNOWN_HASH = '7e5f4552091a69125d5dfcb7b8c2659029395bdf';

/**
 * Returns the basis of Ethereum and Tron addresses: the last 20 bytes of a compressed public key's Keccak
 * hash. Hashes a known key as well, so that a bug never assigns an address without a key.
 */
export function publicKeyHash(publicKey: Uint8Array): Uint8Array {
  if (hex.encode(hashKey(KNOWN_KEY)) !== KNOWN_HASH) throw new Error('the hash of a known key is incorrect');
  return hashKey(publicKey);
}

function hashKey(publicKey: Uint8Array): Uint8Array {
  const key = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  const same = ECDH.convertKey(publicKey, 'secp256k1', undefined, 'hex', 'uncompressed');
  if (hex.encode(key) !== same) throw new Error("two computations of an address don't match");
  return keccak_256(key.subarray(1)).subarray(-20);
}

/**
 * Tron's nodes spell addresses in hex: with the prefix 41 or, inside contracts, without. Returns base58check;
 * null if it is invalid.
 */
export function fromTronHex(digits: string): string | null {
  const hash = tronHash(digits);
  return hash === null ? null : tronAddress(hex.decode(hash));
}

/** Returns the 40 digits that all spellings in hex share; null if the address is invalid. */
export function tronHash(digits: string): string | null {
  const match = /^(?:41)?([0-9a-fA-F]{40})$/.exec(digits);
  return match?.[1]?.toLowerCase() ?? null;
}

/** Returns the hex form for calls to a Tron node, with the prefix; null if the address is invalid. */
export function toTronHex(address: string): string | null {
  try {
    const digits = hex.encode(base58check.decode(address));
    return /^41[0-9a-f]{40}$/.test(digits) ? digits : null;
  } catch {
    return null;
  }
}
