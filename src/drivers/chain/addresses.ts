/** Encodes addresses in each network's format, with checksums. */
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
